using System.Collections.Concurrent;
using System.Text.Json;
using Pnh.Core.Events;
using Pnh.Core.Push;
using Pnh.Core.Users;

namespace Pnh.Core.Tests;

/// <summary>A push channel in memory: keeps what was sent and answers as told. An address of kind <c>orphan</c> has no provider.</summary>
internal sealed class FakeChannel(string name, TimeProvider time) : IPushChannel
{
    private readonly ConcurrentQueue<Push> _sent = new();

    public string Name => name;

    /// <summary>What the provider answers; replaced by tests. Accepts by default.</summary>
    public Func<Delivery, CancellationToken, ValueTask<DeliveryResult>> Answer { get; set; } =
        static (_, _) => ValueTask.FromResult(DeliveryResult.Of(DeliveryStatus.Accepted));

    public int MaxInFlight { get; set; } = 4;

    /// <summary>All attempts so far, in order.</summary>
    public IReadOnlyList<Push> Sent => [.. _sent];

    public int DisposedSenders { get; private set; }

    public void Always(DeliveryStatus status, TimeSpan? retryAfter = null) => Answer = (_, _) =>
        ValueTask.FromResult(new DeliveryResult { Status = status, Reason = status == DeliveryStatus.Accepted ? null : "told-so", RetryAfter = retryAfter });

    public PushAddress? SelectAddress(Device device, Event accepted) => device.Addresses.FirstOrDefault(a => a.Channel == name);

    public string? FindAccount(string app, PushAddress address) => address.Kind == "orphan" ? null : app;

    public IPushSender Open(string account, EventClass @class) => new Sender(this);

    public void ReadAddresses(JsonElement section, DateTimeOffset now, ICollection<PushAddress> addresses, ICollection<FieldError> errors) =>
        throw new NotSupportedException();

    public void WriteAddresses(Utf8JsonWriter section, IEnumerable<PushAddress> addresses) => throw new NotSupportedException();

    /// <summary>One attempt.</summary>
    public readonly record struct Push(string Event, string User, string Device, string Address, DateTimeOffset At, bool IsClear = false);

    private sealed class Sender(FakeChannel channel) : IPushSender
    {
        private volatile bool _disposed;

        public int MaxInFlight => channel.MaxInFlight;

        public ValueTask<DeliveryResult> SendAsync(Delivery delivery, CancellationToken cancellationToken)
        {
            ObjectDisposedException.ThrowIf(_disposed, this);
            channel._sent.Enqueue(new Push(
                delivery.Event.Id, delivery.User.User, delivery.Device.Id, delivery.Address!.Value, channel.Now, delivery.Withdrawal is not null));
            return channel.Answer(delivery, cancellationToken);
        }

        public ValueTask DisposeAsync()
        {
            _disposed = true;
            channel.DisposedSenders++;
            return ValueTask.CompletedTask;
        }
    }

    private DateTimeOffset Now => time.GetUtcNow();
}
