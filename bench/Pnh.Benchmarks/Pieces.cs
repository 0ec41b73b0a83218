using System.Text;
using Pnh.Channels.WebSockets.Protocol;
using Pnh.Core.Events;
using Pnh.Core.Plans;
using Pnh.Core.Sessions;
using Pnh.Core.Timing;
using Pnh.Core.Users;

namespace Pnh.Benchmarks;

/// <summary>All operations that are measured, by name: the same table for timings and for budgets.</summary>
internal static partial class Pieces
{
    private const string Data = "\"data\":{\"text\":\"0123456789012345678901234567890123456789012345678901234567890123456789\"}";

    public static IReadOnlyDictionary<string, Func<Piece>> All { get; } = new Dictionary<string, Func<Piece>>
    {
        ["parse: transient to a topic"] = () => Parse($$"""{"to":{"topic":"room-7"},"class":"transient",{{Data}}}"""),
        ["parse: message to a user"] = () => Parse($$"""{"id":"0199-abcd","to":{"user":"user-000001"},"class":"message","ttl":60,{{Data}}}"""),
        ["plan: one session"] = Plan,
        ["encode: message frame"] = Encode,
        ["wheel: schedule and cancel"] = WheelCancel,
        ["wheel: schedule and fire, 1,000 entries"] = WheelFire,
        ["post: transient to a session"] = () => Post("transient"),
        ["post: message to a session, acked"] = () => Post("message"),
        ["fan-out: transient to 1 joined"] = () => FanOut("transient", 1),
        ["fan-out: transient to 100 joined, each"] = () => FanOut("transient", 100),
        ["fan-out: transient to 1,000 joined, each"] = () => FanOut("transient", 1_000),
        ["fan-out: message to 1 joined, acked"] = () => FanOut("message", 1),
        ["fan-out: message to 100 joined, acked, each"] = () => FanOut("message", 100),
        ["fan-out: message to 1,000 joined, acked, each"] = () => FanOut("message", 1_000),
        ["rooms: transient to one of 6,000 topics of 3, event"] = Rooms,
        ["journal: note, caller's side"] = JournalNote,
        ["journal: append and 3,000 notes, each record, process"] = JournalNotes,
        ["journal: 64 messages to a session, acked, each, process"] = JournalPosts,
        ["journal: message to 1,000 joined, acked, each, process"] = JournalFanOut,
        ["session: join 3 topics and close, among 50,000"] = JoinAndClose,
    };

    private static Piece Parse(string json)
    {
        var reader = new EventReader(ClassPolicies.Default, [ChannelNames.WebSocket]);
        var body = Encoding.UTF8.GetBytes(json);
        var errors = new List<FieldError>();
        var now = TimeProvider.System.GetUtcNow();
        return new Piece(() => reader.Read(body, new EventOrigin(BenchHub.App, now, 1), errors));
    }

    private static Piece Plan()
    {
        using var hub = new BenchHub();
        var planner = new Planner(ClassPolicies.Default, []);
        var accepted = hub.Parse($$"""{"to":{"user":"user-000000"},{{Data}}}""");
        var key = new SessionKey(BenchHub.App, BenchHub.User(0), "tab-1", "s1");
        LiveSession[] sessions = [new LiveSession(key, SessionState.Active, new NullLink(), accepted.AcceptedAt)];
        var plans = new List<DevicePlan>();
        return new Piece(() =>
        {
            plans.Clear();
            planner.Plan(accepted, key.User, UserSnapshot.Empty, sessions, accepted.AcceptedAt, plans);
        });
    }

    private static Piece Encode()
    {
        using var hub = new BenchHub();
        var read = hub.Parse($$"""{"to":{"user":"user-000000"},{{Data}}}""");
        return new Piece(() => EventFrames.Of(new Event
        {
            App = read.App,
            Id = read.Id,
            To = read.To,
            AcceptedAt = read.AcceptedAt,
            ExpiresAt = read.ExpiresAt,
            Data = read.Data,
        }));
    }

    private static Piece WheelCancel()
    {
        var wheel = new TimingWheel(TimeProvider.System);
        var entry = new Entry();
        return new Piece(() =>
        {
            wheel.Schedule(entry, TimeSpan.FromHours(24));
            wheel.Cancel(entry);
        });
    }

    private static Piece WheelFire()
    {
        var clock = new SteppedTime();
        var wheel = new TimingWheel(clock);
        var entries = Enumerable.Range(0, 1_000).Select(_ => new Entry()).ToArray();
        var due = new List<WheelEntry>(entries.Length);
        return new Piece(() =>
        {
            for (var i = 0; i < entries.Length; i++)
            {
                wheel.Schedule(entries[i], TimeSpan.FromMilliseconds(i));
            }

            clock.Step(TimeSpan.FromSeconds(2));
            due.Clear();
            wheel.Advance(due);
        }, 1_000);
    }

    private static Piece JoinAndClose()
    {
        var hub = new BenchHub().Open(50_000, static i => $"room-{i}");
        var key = new SessionKey(BenchHub.App, "someone", "tab-1", "s1");
        string[] topics = ["room-7", "room-4000", "room-49999"];
        var link = new NullLink();
        return new Piece(() =>
        {
            hub.Open(key, link);
            hub.Hub.Router.Joined(key, topics);
            hub.Hub.Router.Closed(key);
        }, 1, hub);
    }

    private sealed class Entry : WheelEntry;

    private sealed class SteppedTime : TimeProvider
    {
        private long _now;

        public override long TimestampFrequency => TimeSpan.TicksPerSecond;

        public void Step(TimeSpan by) => _now += by.Ticks;

        public override long GetTimestamp() => _now;
    }
}
