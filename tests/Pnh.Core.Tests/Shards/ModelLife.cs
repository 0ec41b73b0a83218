using Pnh.Core.Events;
using Pnh.Core.Hubs;
using Pnh.Core.Journal;
using Pnh.Core.Push;
using Pnh.Core.Sessions;
using Pnh.Core.Users;

namespace Pnh.Core.Tests.Shards;

/// <summary>A random life of two users and their devices, step by step, with the model kept beside it.</summary>
internal sealed partial class ModelLife(int seed) : IAsyncDisposable
{
    private static readonly string[] Registered = ["phone1", "phone2", "tablet"];
    private static readonly string[] Devices = [.. Registered, "tab", "guest"];
    private readonly Random _random = new(seed);
    private readonly ModelBook _book = new();
    private readonly Dictionary<string, Session> _open = [];
    private readonly List<(string Device, ModelLink Link)> _links = [];
    private readonly Dictionary<(string Event, string Device), int> _pushesWhenDone = [];
    private readonly HashSet<string> _overAtRestart = [];
    private HubUnderTest _hub = new();

    public async Task RunAsync(int steps)
    {
        _hub.Store.IsCold = seed % 2 == 0; // every other life reads the registry on the long way
        PutSettings(UserSettings.Default);
        _hub.Fcm.Answer = (_, _) => ValueTask.FromResult(RandomAnswer());
        for (var step = 0; step < steps; step++)
        {
            await StepAsync();
            await SettleDownAsync();
            await RestAsync();
            await AssertHoldsAsync();
        }

        foreach (var device in _open.Keys.ToArray())
        {
            Close(device);
        }

        await _hub.PassAsync(TimeSpan.FromMinutes(25), TimeSpan.FromSeconds(10));
        await RestAsync();
        AssertOver();
    }

    // In every third life what only waits for its device leaves memory, now and then.
    private async Task RestAsync()
    {
        if (seed % 3 == 0)
        {
            if (_random.Next(2) == 0)
            {
                await _hub.Hub.Rest.RestAsync();
            }

            await _hub.Hub.Rest.EndAsync();
        }
    }

    public ValueTask DisposeAsync() => _hub.DisposeAsync();

    private async Task StepAsync()
    {
        var device = Devices[_random.Next(Devices.Length)];
        _open.TryGetValue(device, out var session);
        switch (_random.Next(22))
        {
            case < 6:
                await SendAsync();
                break;
            case < 9:
                await _hub.PassAsync(TimeSpan.FromSeconds(_random.NextDouble() * (_random.Next(5) == 0 ? 90 : 4)), TimeSpan.FromMilliseconds(500));
                break;
            case 9 or 10:
                await OpenAsync(device);
                break;
            case 11 when session is not null:
                Close(device);
                break;
            case 12 when session is { Link.IsConnected: true }:
                session.Link.IsConnected = false;
                _hub.Hub.Router.Detached(session.Key);
                break;
            case 13 or 14 when session is { Link: { IsConnected: false, IsOver: false } }:
                session.Link.IsConnected = true;
                Assert.True(await _hub.Hub.Router.ResumedAsync(session.Key, RandomState(), null, CancellationToken.None));
                break;
            case 15 when session is { Link.IsConnected: true }:
                _hub.Hub.Router.StateChanged(session.Key, RandomState());
                break;
            case 16 when session is not null:
                Topics(session);
                break;
            case 17 when session is { Link.IsConnected: true } && session.Link.GiveBack() is { } refused:
                _hub.Hub.Router.Refused(session.Key, refused);
                break;
            case 18:
                await TakeBackAsync(session);
                break;
            case 20 when session is { Link: { IsOver: false } }:
                await ReopenAsync(session);
                break;
            case 21:
                PutSettings(RandomSettings());
                break;
            case 19 when _random.Next(4) == 0:
                await RestartAsync();
                break;
            default:
                await AcknowledgeAsync(device, session);
                break;
        }
    }

    private async Task SendAsync()
    {
        if (seed % 3 == 0)
        {
            // What rests has its order from its times: no two requests come in one tick.
            _hub.Clock.Advance(TimeSpan.FromMilliseconds(1));
        }

        var @class = EventClassNames.All[_random.Next(3)];
        var ttl = new[] { 0, 2, 20, 60, 600 }[_random.Next(5)];
        var toTopic = _random.Next(6) == 0;
        var channels = _random.Next(6) switch { 0 => "\"fcm\"", 1 => "\"websocket\"", _ => null };
        var key = !toTopic && _random.Next(4) == 0 ? $",\"collapseKey\":\"k{_random.Next(2)}\"" : "";
        var accepted = _hub.NewEvent(
            $"\"class\":\"{@class.Label()}\",\"ttl\":{ttl}{key}{(channels is null ? "" : $",\"channels\":[{channels}]")}",
            toTopic ? """{"topic":"room"}""" : null);
        _book.Sent(accepted);
        var frames = channels is not "\"fcm\"";
        foreach (var device in Devices)
        {
            var hasSession = _open.TryGetValue(device, out var session);
            var isTarget = toTopic ? hasSession && session!.IsJoined : device != "guest" && (hasSession || device != "tab");
            if (isTarget && (frames || (!toTopic && device.StartsWith("phone", StringComparison.Ordinal) && !IsSilenced(accepted))))
            {
                _book.Began(accepted, device, frames && !toTopic && Registered.Contains(device));
                Remember();
            }
        }

        Assert.Equal(AcceptStatus.Accepted, (await _hub.Hub.Acceptor.AcceptAsync(accepted)).Status);
    }

    private async Task OpenAsync(string device)
    {
        var link = new ModelLink(_random.Next(4) == 0 ? 3 : 1_000, () => _hub.Now);
        var key = new SessionKey("demo", device == "guest" ? "eve" : "ada", device, $"s{_links.Count}");
        _links.Add((device, link));
        _open.TryGetValue(device, out var older);
        _open[device] = new Session(key, link);
        await _hub.Hub.Router.OpenedAsync(new SessionOpened(key, RandomState(), link, _hub.Now), CancellationToken.None);
        if (older is not null)
        {
            Assert.True(older.Link.IsOver);
            _hub.Hub.Router.Closed(older.Key);
        }
    }

    // Its way to the hub broke, and what was on it is lost; the edge says the session again, with or without its client.
    private async Task ReopenAsync(Session session)
    {
        if (session.Link.IsConnected)
        {
            _hub.Hub.Router.Detached(session.Key);
        }

        if (_random.Next(3) == 0)
        {
            await SendAsync();
            await _hub.RestAsync();
        }

        session.Link.Lose(_random.Next(4));
        session.Link.IsConnected = _random.Next(4) > 0;
        var opened = new SessionOpened(session.Key, RandomState(), session.Link, _hub.Now);
        string[] topics = session.IsJoined ? ["room", "hall"] : [];
        Assert.True(await _hub.Hub.Router.ReopenedAsync(new(opened, !session.Link.IsConnected, topics, session.Link.Unacknowledged), CancellationToken.None));
    }

    private void Close(string device)
    {
        _open.Remove(device, out var session);
        session!.Link.Close(session.Key.Session, SessionClose.HubError);
        _hub.Hub.Router.Closed(session.Key);
    }

    private void Topics(Session session)
    {
        session.IsJoined = !session.IsJoined;
        if (session.IsJoined)
        {
            _hub.Hub.Router.Joined(session.Key, ["room", "hall"]);
        }
        else
        {
            _hub.Hub.Router.Left(session.Key, ["room"]);
        }
    }

    private async Task AcknowledgeAsync(string device, Session? session)
    {
        var now = _hub.Now;
        var byInbox = Registered.Contains(device) && _random.Next(3) == 0;
        var ids = byInbox ? [.. _book.Waiting(device, now)] : session?.Link.Frames.Select(f => f.Id).ToArray() ?? [];
        if (ids.Length == 0)
        {
            return;
        }

        var id = ids[_random.Next(ids.Length)];
        var before = _hub.Journal.EndOf(id, device);
        var waits = _book.Waits(id, device, now);
        if (byInbox)
        {
            Assert.Equal(1, await _hub.Hub.Inbox.AckAsync(new UserKey("demo", "ada"), device, [id], CancellationToken.None));
        }
        else
        {
            session!.Link.Acked(id);
            _hub.Hub.Router.Acked(session.Key, id);
        }

        await _hub.RestAsync();
        var after = _hub.Journal.EndOf(id, device);
        Assert.True(after == before || (before is null && after == "acked"), $"{id} on {device}: {before} became {after} with an ack");
        Assert.True(!waits || after is not null, $"{id} on {device} is open after its ack");
        _book.Take(id, device);
        Remember();
    }

    private async Task TakeBackAsync(Session? session)
    {
        if (session is not null && _random.Next(2) == 0)
        {
            if (session.Link.Frames is not { Count: > 0 } frames)
            {
                return;
            }

            // Answered here: over everywhere else of the user.
            var answered = frames[_random.Next(frames.Count)].Id;
            session.Link.Acked(answered);
            TakeEverywhere(answered, session.Key.User);
            _hub.Hub.Router.Answered(session.Key, answered, "answered", null);
        }
        else if (_book.Events.Count > 0)
        {
            var id = $"e{_random.Next(_book.Events.Count) + 1}";
            TakeEverywhere(id, null);
            var status = await _hub.Hub.WithdrawAsync("demo", id, "withdrawn", null, CancellationToken.None);
            Assert.Equal(_book.Withdrawn.Add(id) ? WithdrawStatus.Withdrawn : WithdrawStatus.Already, status);
        }

        Remember();
    }

    private void TakeEverywhere(string id, string? user)
    {
        foreach (var device in Devices.Where(d => user is null || (d == "guest") == (user == "eve")))
        {
            _book.Take(id, device);
        }
    }

    private async Task RestartAsync()
    {
        foreach (var session in _open.Values)
        {
            session.Link.Close(session.Key.Session, SessionClose.HubError);
        }

        _open.Clear();
        _overAtRestart.UnionWith(_book.Events.Values.Where(e => e.ExpiresAt <= _hub.Now).Select(e => e.Id));
        _hub = await _hub.CrashAsync();
    }

    // A push that is not made at all: without frames nothing of the event is left for the device.
    private bool IsSilenced(Event accepted) => _hub.Store.SettingsOf("ada") is { DoNotDisturbUntil: { } until } settings && until > _hub.Now
        && (settings.Mode == QuietMode.Drop || accepted.ExpiresAt <= until || accepted.ExpiresAt == accepted.AcceptedAt);

    private void PutSettings(UserSettings settings) => _hub.Store.Put("ada", settings, _hub.Phone("phone1"), _hub.Phone("phone2"), _hub.NewDevice("tablet"));

    // What is held goes or ends within the life.
    private UserSettings RandomSettings() => _random.Next(3) == 0
        ? UserSettings.Default
        : new UserSettings { DoNotDisturbUntil = _hub.Now.AddSeconds(_random.Next(1, 120)), Mode = _random.Next(4) == 0 ? QuietMode.Drop : QuietMode.Hold };

    // Reads and lanes at rest, and sessions that are done for reported as such.
    private async Task SettleDownAsync()
    {
        await _hub.RestAsync();
        foreach (var (device, session) in _open.ToArray())
        {
            if (session.Link.IsOver)
            {
                Close(device);
            }
        }

        await _hub.RestAsync();
    }

    private void Remember()
    {
        foreach (var done in _book.Done)
        {
            if (!_pushesWhenDone.ContainsKey(done))
            {
                _pushesWhenDone.Add(done, Pushes(done.Event, done.Device));
            }
        }
    }

    private int Pushes(string id, string device) => _hub.Fcm.Sent.Count(p => p.Event == id && p.Device == device && !p.IsClear);

    private SessionState RandomState() => _random.Next(2) == 0 ? SessionState.Active : SessionState.Background;

    // The lane's workers ask, up to four at once.
    private DeliveryResult RandomAnswer()
    {
        lock (_random)
        {
            return _random.Next(12) switch
            {
                < 5 => DeliveryResult.Of(DeliveryStatus.Accepted),
                5 or 6 => DeliveryResult.Of(DeliveryStatus.Unavailable, "down"),
                7 => new DeliveryResult { Status = DeliveryStatus.Throttled, RetryAfter = TimeSpan.FromSeconds(_random.Next(20)) },
                8 => DeliveryResult.Of(DeliveryStatus.AddressDead, "UNREGISTERED"),
                10 or 11 => new DeliveryResult { Status = DeliveryStatus.Unavailable, Reason = "timeout", IsUnknown = true },
                _ => DeliveryResult.Of(DeliveryStatus.Rejected, "bad"),
            };
        }
    }

    private sealed class Session(SessionKey key, ModelLink link)
    {
        public SessionKey Key => key;

        public ModelLink Link => link;

        public bool IsJoined { get; set; }
    }
}
