using System.Runtime.CompilerServices;
using Pnh.Core.Events;
using Pnh.Core.Push;
using Pnh.Core.Users;

namespace Pnh.Channels.Tests.Http;

/// <summary>Events, devices and deliveries to send in tests.</summary>
internal static class Sample
{
    public static readonly TimeSpan Limit = TimeSpan.FromSeconds(20);

    public static Event Event(
        TimeProvider time,
        EventClass @class = EventClass.Message,
        Notification? notification = null,
        TimeSpan? ttl = null,
        string? collapseKey = null,
        string? data = null,
        Dictionary<string, string>? overrides = null,
        string id = "event-1",
        string? traceParent = null,
        PushPriority priority = PushPriority.ByClass)
    {
        var now = time.GetUtcNow();
        return new Event
        {
            App = "demo",
            Id = id,
            To = EventTarget.ToUser("ada"),
            Class = @class,
            AcceptedAt = now,
            ExpiresAt = now + (ttl ?? TimeSpan.FromHours(24)),
            CollapseKey = collapseKey,
            Priority = priority,
            Data = data is null ? default : Bytes.Of(data),
            Notification = notification,
            Overrides = overrides?.ToDictionary(pair => pair.Key, pair => Bytes.Of(pair.Value)),
            TraceParent = traceParent,
        };
    }

    public static Delivery Delivery(Event accepted, PushAddress address, string? locale = null, string device = "phone-1") => new()
    {
        Event = accepted,
        User = new UserKey("demo", "ada"),
        Device = new Device { Id = device, Platform = Platform.Ios, Addresses = [address], Locale = locale, RegisteredAt = accepted.AcceptedAt },
        Address = address,
    };

    /// <summary>As its shard says it, from whatever thread: acknowledged or taken back, nothing more is to be sent.</summary>
    [UnsafeAccessor(UnsafeAccessorKind.Method, Name = "Stop")]
    public static extern void Settle(Delivery delivery);

    /// <summary>What clears the event from a device with these addresses, the first of which showed it.</summary>
    public static Delivery Clear(Event accepted, Withdrawal withdrawal, params PushAddress[] addresses) => new()
    {
        Event = accepted,
        Withdrawal = withdrawal,
        User = new UserKey("demo", "ada"),
        Device = new Device { Id = "phone-1", Platform = Platform.Ios, Addresses = addresses, RegisteredAt = accepted.AcceptedAt },
        Address = addresses[0],
    };
}
