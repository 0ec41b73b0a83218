using System.Collections.Concurrent;
using System.Text.Json;
using Microsoft.Extensions.Configuration;
using Microsoft.Extensions.DependencyInjection;
using Pnh.Api.Tests.Pigeon;
using Pnh.Channels;
using Pnh.Core.Events;
using Pnh.Core.Push;
using Pnh.Core.Users;

[assembly: PigeonModule]

namespace Pnh.Api.Tests.Pigeon;

/// <summary>A channel that exists in this folder only: what adding one takes.</summary>
[AttributeUsage(AttributeTargets.Assembly)]
internal sealed class PigeonModule : PushChannelModule
{
    public override string Name => "pigeon";

    public override IReadOnlyList<string> ConfigurationKeys => ["Apps:*:Pigeon:Loft"];

    public override void Register(IServiceCollection services, IConfiguration pnhSection) => services
        .AddSingleton(_ => new PigeonChannel(pnhSection))
        .AddSingleton<IPushChannel>(static provider => provider.GetRequiredService<PigeonChannel>());
}

internal sealed class PigeonChannel : IPushChannel, IPushSender
{
    private readonly IConfiguration _pnh;

    public PigeonChannel(IConfiguration pnh) => _pnh = pnh;

    public ConcurrentQueue<(string Ring, string Event)> Flown { get; } = new();

    public string Name => "pigeon";

    public int MaxInFlight => 2;

    public void ReadAddresses(JsonElement section, DateTimeOffset now, ICollection<PushAddress> addresses, ICollection<FieldError> errors)
    {
        if (section.TryGetProperty("ring", out var ring) && ring.GetString() is { Length: > 0 } value)
        {
            addresses.Add(new PushAddress(Name, "ring", value, "", now));
        }
        else
        {
            errors.Add(new FieldError("/ring", "required", "A pigeon has a ring."));
        }
    }

    public void WriteAddresses(Utf8JsonWriter section, IEnumerable<PushAddress> addresses) => section.WriteString("ring", addresses.Single().Value);

    public PushAddress? SelectAddress(Device device, Event accepted) => device.Addresses.FirstOrDefault(a => a.Channel == Name);

    public string? FindAccount(string app, PushAddress address) => _pnh[$"Apps:{app}:Pigeon:Loft"];

    public IPushSender Open(string account, EventClass @class) => this;

    public ValueTask<DeliveryResult> SendAsync(Delivery delivery, CancellationToken cancellationToken)
    {
        Flown.Enqueue((delivery.Address!.Value, delivery.Event.Id));
        return ValueTask.FromResult(DeliveryResult.Of(DeliveryStatus.Accepted));
    }

    public ValueTask DisposeAsync() => ValueTask.CompletedTask;
}
