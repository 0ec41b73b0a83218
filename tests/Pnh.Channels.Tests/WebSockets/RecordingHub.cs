using System.Collections.Concurrent;
using System.Text;
using System.Threading.Channels;
using Pnh.Core.Sessions;

namespace Pnh.Channels.Tests.WebSockets;

/// <summary>
/// A hub that writes down what sessions tell it, keeps one session per device as the real one does, and knows tokens by heart. What no session
/// may say (a second Closed, a resume of what was not detached, …) lands in <see cref="Faults"/>.
/// </summary>
internal sealed class RecordingHub : ISessionEvents, IClientAuthenticator
{
    private readonly Channel<SessionOpened> _opened = Channel.CreateUnbounded<SessionOpened>();
    private readonly Channel<SessionKey> _closed = Channel.CreateUnbounded<SessionKey>();
    private readonly Channel<SessionKey> _detached = Channel.CreateUnbounded<SessionKey>();
    private readonly Channel<SessionKey> _resumed = Channel.CreateUnbounded<SessionKey>();
    private readonly Channel<string> _acked = Channel.CreateUnbounded<string>();
    private readonly Channel<string> _said = Channel.CreateUnbounded<string>();
    private readonly Channel<SessionState> _states = Channel.CreateUnbounded<SessionState>();
    private readonly Lock _gate = new();
    private readonly Dictionary<string, bool?> _online = []; // by session: true = online, false = detached, null = closed
    private readonly Dictionary<SessionKey, SessionOpened> _byDevice = [];
    private readonly ConcurrentQueue<string> _faults = new();

    public ConcurrentDictionary<string, ClientIdentity> Tokens { get; } = new()
    {
        ["ada-token"] = Identity("ada"),
        ["bob-token"] = Identity("bob"),
        ["bound-token"] = Identity("ada", device: "phone-1"),
        ["room-token"] = Identity("ada") with { Topics = ["room-7", "team/*"] },
        ["hall-token"] = Identity("ada") with { Topics = ["room-7"] },
        ["any-token"] = Identity("ada") with { Topics = ["*"] },
    };

    /// <summary>What the hub does when a session opens.</summary>
    public Func<SessionOpened, ValueTask> OnOpened { get; set; } = _ => ValueTask.CompletedTask;

    /// <summary>What the hub does when a session is resumed; false = it does not know it.</summary>
    public Func<SessionKey, bool> OnResumed { get; set; } = _ => true;

    /// <summary>True = it takes a while to say whether it knows a session.</summary>
    public bool Dawdles { get; set; }

    /// <summary>What the hub does on an ack.</summary>
    public Action<string> OnAcked { get; set; } = _ => { };

    /// <summary>What happens before the hub hears of a join.</summary>
    /// <summary>What sessions joined, call by call.</summary>
    public ConcurrentQueue<IReadOnlyList<string>> Joins { get; } = new();

    public Action OnJoined { get; set; } = () => { };

    /// <summary>What the hub does when a frame was refused after all.</summary>
    public Action<string> OnRefused { get; set; } = _ => { };

    /// <summary>What the hub answers to a client's send.</summary>
    public Func<string, SendRefusal?> OnSend { get; set; } = _ => null;

    public int ClosedCount { get; private set; }

    public int OpenedCount { get; private set; }

    public IReadOnlyCollection<string> Faults => _faults;

    public ConcurrentDictionary<string, int> RefusedIds { get; } = new();

    public static ClientIdentity Identity(string user, string? device = null, TimeSpan? lifetime = null) =>
        new("demo", user, device, [], TimeProvider.System.GetUtcNow() + (lifetime ?? TimeSpan.FromHours(1)));

    /// <summary>A token of its own for this client, as an upgrade's header would have it; null = none.</summary>
    public ClientCredential? Credential(ClientIdentity? identity)
    {
        if (identity is null)
        {
            return null;
        }

        var token = $"token-{Tokens.Count}";
        Tokens[token] = identity;
        return new ClientCredential(identity, token);
    }

    public ClientIdentity? Authenticate(ReadOnlySpan<char> token, out string? refusal)
    {
        var found = Tokens.GetValueOrDefault(token.ToString());
        refusal = found is null ? "unknown" : null;
        return found;
    }

    /// <summary>False = every user has as many sessions as one may.</summary>
    public bool Takes { get; set; } = true;

    public async ValueTask<bool> OpenedAsync(SessionOpened opened, CancellationToken cancellationToken)
    {
        if (!Takes)
        {
            return false;
        }

        SessionOpened? older;
        lock (_gate)
        {
            OpenedCount++;
            Expect(_online.TryAdd(opened.Key.Session, true), "opened twice");
            _byDevice.Remove(DeviceOf(opened.Key), out older);
            _byDevice[DeviceOf(opened.Key)] = opened;
        }

        older?.Link.Close(older.Key.Session, SessionClose.Replaced);

        await OnOpened(opened);
        _opened.Writer.TryWrite(opened);
        return true;
    }

    public void Detached(SessionKey session)
    {
        Move(session, from: true, to: false, "detached, but was not online");
        _detached.Writer.TryWrite(session);
    }

    public async ValueTask<bool> ResumedAsync(SessionKey session, SessionState state, DateTimeOffset? connectedAt, CancellationToken cancellationToken)
    {
        if (Dawdles)
        {
            await Task.Delay(1, cancellationToken);
        }

        lock (_gate)
        {
            Expect(_online[session.Session] == false, "resumed, but was not detached");
            if (!_byDevice.TryGetValue(DeviceOf(session), out var known) || known.Key != session || !OnResumed(session))
            {
                return false;
            }

            _online[session.Session] = true;
        }

        ConnectedAt.Enqueue(connectedAt);
        _states.Writer.TryWrite(state);
        _resumed.Writer.TryWrite(session);
        return true;
    }

    /// <summary>When connections came that sessions were resumed with, as their node says.</summary>
    public ConcurrentQueue<DateTimeOffset?> ConnectedAt { get; } = new();

    /// <summary>True = a session may be said again that nobody has said to be without a connection.</summary>
    public bool MayReopenOnline { get; set; }

    /// <summary>True while the session has a connection, as far as the hub was told.</summary>
    public bool IsOnline(string session)
    {
        lock (_gate)
        {
            return _online.GetValueOrDefault(session) == true;
        }
    }

    /// <summary>Sessions that were said again, with what they hold.</summary>
    public ConcurrentQueue<SessionReopened> Reopened { get; } = new();

    public ValueTask<bool> ReopenedAsync(SessionReopened reopened, CancellationToken cancellationToken)
    {
        lock (_gate)
        {
            Expect(MayReopenOnline || _online.GetValueOrDefault(reopened.Opened.Key.Session) != true, "reopened, but was online");
            _online[reopened.Opened.Key.Session] = !reopened.IsDetached;
            _byDevice[DeviceOf(reopened.Opened.Key)] = reopened.Opened;
        }

        Reopened.Enqueue(reopened);
        return ValueTask.FromResult(true);
    }

    public void Closed(SessionKey session)
    {
        lock (_gate)
        {
            ClosedCount++;
            Expect(_online.TryGetValue(session.Session, out var before) && before is not null, "closed twice, or never opened");
            _online[session.Session] = null;
            if (_byDevice.TryGetValue(DeviceOf(session), out var known) && known.Key == session)
            {
                _byDevice.Remove(DeviceOf(session));
            }
        }

        _closed.Writer.TryWrite(session);
    }

    public void StateChanged(SessionKey session, SessionState state) => _states.Writer.TryWrite(state);

    public void Acked(SessionKey session, string eventId)
    {
        OnAcked(eventId);
        _acked.Writer.TryWrite(eventId);
    }

    public void HasRoom(SessionKey session) => _said.Writer.TryWrite("has room");

    public void Refused(SessionKey session, string eventId)
    {
        RefusedIds.AddOrUpdate(eventId, 1, static (_, times) => times + 1);
        OnRefused(eventId);
    }

    public void Answered(SessionKey session, string eventId, string reason, string? answer) =>
        _said.Writer.TryWrite($"{reason} {eventId} {answer}".TrimEnd());

    /// <summary>Events of which what clients say cannot be kept.</summary>
    public ConcurrentBag<string> Unkept { get; } = [];

    public ValueTask<bool> AnsweredAsync(SessionKey session, string eventId, string reason, string? answer)
    {
        Answered(session, eventId, reason, answer);
        return ValueTask.FromResult(!Unkept.Contains(eventId));
    }

    public void Joined(SessionKey session, IReadOnlyList<string> topics)
    {
        Joins.Enqueue(topics);
        OnJoined();
        _said.Writer.TryWrite($"joined {string.Join(' ', topics)}");
    }

    public void Left(SessionKey session, IReadOnlyList<string> topics) => _said.Writer.TryWrite($"left {string.Join(' ', topics)}");

    public ValueTask<SendRefusal?> SendAsync(
        SessionKey session, ClientIdentity identity, ReadOnlyMemory<byte> message, CancellationToken cancellationToken)
    {
        var text = Encoding.UTF8.GetString(message.Span);
        _said.Writer.TryWrite($"send by {identity.User}: {text}");
        return ValueTask.FromResult(OnSend(text));
    }

    public Task<SessionOpened> NextOpenedAsync() => Next(_opened);

    public Task<SessionKey> NextClosedAsync() => Next(_closed);

    public Task<SessionKey> NextDetachedAsync() => Next(_detached);

    public Task<SessionKey> NextResumedAsync() => Next(_resumed);

    public Task<string> NextAckedAsync() => Next(_acked);

    /// <summary>What was said and not asked for yet.</summary>
    public int Said => _said.Reader.Count;

    /// <summary>Answers, joins, leaves and sends, as words.</summary>
    public Task<string> NextSaidAsync() => Next(_said);

    /// <summary>The sends' messages so far; what else was said is dropped.</summary>
    public List<string> TakeSaid()
    {
        const string Send = "send by ada: ";
        var taken = new List<string>();
        while (_said.Reader.TryRead(out var said))
        {
            if (said.StartsWith(Send, StringComparison.Ordinal))
            {
                taken.Add(said[Send.Length..]);
            }
        }

        return taken;
    }

    public Task<SessionState> NextStateAsync() => Next(_states);

    private static SessionKey DeviceOf(SessionKey session) => session with { Session = "" };

    private static Task<T> Next<T>(Channel<T> channel) => channel.Reader.ReadAsync().AsTask().WaitAsync(SocketHost.Patience);

    private void Move(SessionKey session, bool? from, bool? to, string fault)
    {
        lock (_gate)
        {
            Expect(_online.TryGetValue(session.Session, out var before) && before == from, fault);
            _online[session.Session] = to;
        }
    }

    private void Expect(bool condition, string fault)
    {
        if (!condition)
        {
            _faults.Enqueue(fault);
        }
    }
}
