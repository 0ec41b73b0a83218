using Microsoft.Extensions.DependencyInjection;
using Pnh.Core.Events;
using Pnh.Core.Push;
using Pnh.Core.Users;

namespace Pnh.LaneBench;

/// <summary>What the lane calls for a push to Apple: sender, pipeline (Polly's), pool, connection. One event to many devices, as a fan-out is.</summary>
internal sealed class SenderClient : IClient
{
    private readonly ServiceProvider _services;
    private readonly IPushSender _sender;
    private readonly Delivery[] _deliveries;

    public SenderClient(Uri address, bool isDirect, string certificateFile)
    {
        _services = BenchChannels.Build(address, isDirect, certificateFile);
        _sender = BenchChannels.Apns(_services).Open("demo/0", EventClass.Message);
        _deliveries = Deliveries();
    }

    public async Task<long> PushUntilAsync(long end, int worker)
    {
        long count = 0;
        for (; TimeProvider.System.GetTimestamp() < end; count++)
        {
            var result = await _sender.SendAsync(_deliveries[(worker + count) % _deliveries.Length], CancellationToken.None);
            if (result.Status != DeliveryStatus.Accepted)
            {
                // The pool may shed under a noisy neighbour: that is no push, and no reason to stop.
                Console.Error.WriteLine($"{result.Status} {result.Reason}");
                count--;
            }
        }

        return count;
    }

    public async ValueTask DisposeAsync()
    {
        await _sender.DisposeAsync();
        await _services.DisposeAsync();
    }

    private static Delivery[] Deliveries()
    {
        var now = TimeProvider.System.GetUtcNow();
        var accepted = new Event
        {
            App = "demo",
            Id = "event-1",
            To = EventTarget.ToUser("ada"),
            Class = EventClass.Message,
            AcceptedAt = now,
            ExpiresAt = now + TimeSpan.FromHours(24),
            Notification = new Notification { Title = "Grace", Body = new string('b', 120) },
        };
        return
        [
            .. Push.Addresses.Select((address, number) =>
            {
                var push = new PushAddress("apns", "token", address, "production/" + Push.Topic, default);
                return new Delivery
                {
                    Event = accepted,
                    User = new UserKey("demo", "ada"),
                    Device = new Device { Id = $"phone-{number}", Platform = Platform.Ios, Addresses = [push], RegisteredAt = now },
                    Address = push,
                };
            }),
        ];
    }
}
