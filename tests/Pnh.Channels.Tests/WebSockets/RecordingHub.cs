using System.Collections.Concurrent;
using System.Threading.Channels;
using Pnh.Core.Sessions;

namespace Pnh.Channels.Tests.WebSockets;

/// <summary>A hub that writes down what sessions tell it, and knows tokens by heart.</summary>
internal sealed class RecordingHub : ISessionEvents, IClientAuthenticator
{
    private readonly Channel<SessionOpened> _opened = Channel.CreateUnbounded<SessionOpened>();
    private readonly Channel<SessionKey> _closed = Channel.CreateUnbounded<SessionKey>();
    private readonly Channel<string> _acked = Channel.CreateUnbounded<string>();
    private readonly Channel<SessionState> _states = Channel.CreateUnbounded<SessionState>();

    public ConcurrentDictionary<string, ClientIdentity> Tokens { get; } = new()
    {
        ["ada-token"] = Identity("ada"),
        ["bob-token"] = Identity("bob"),
        ["bound-token"] = Identity("ada", device: "phone-1"),
    };

    /// <summary>What the hub does when a session opens.</summary>
    public Func<SessionOpened, ValueTask> OnOpened { get; set; } = _ => ValueTask.CompletedTask;

    /// <summary>What the hub does on an ack.</summary>
    public Action<string> OnAcked { get; set; } = _ => { };

    public int ClosedCount { get; private set; }

    public static ClientIdentity Identity(string user, string? device = null, TimeSpan? lifetime = null) =>
        new("demo", user, device, [], TimeProvider.System.GetUtcNow() + (lifetime ?? TimeSpan.FromHours(1)));

    public ClientIdentity? Authenticate(ReadOnlySpan<char> token, out string? refusal)
    {
        var found = Tokens.GetValueOrDefault(token.ToString());
        refusal = found is null ? "unknown" : null;
        return found;
    }

    public async ValueTask OpenedAsync(SessionOpened opened, CancellationToken cancellationToken)
    {
        await OnOpened(opened);
        _opened.Writer.TryWrite(opened);
    }

    public void Closed(SessionKey session)
    {
        ClosedCount++;
        _closed.Writer.TryWrite(session);
    }

    public void StateChanged(SessionKey session, SessionState state) => _states.Writer.TryWrite(state);

    public void Acked(SessionKey session, string eventId)
    {
        OnAcked(eventId);
        _acked.Writer.TryWrite(eventId);
    }

    public Task<SessionOpened> NextOpenedAsync() => Next(_opened);

    public Task<SessionKey> NextClosedAsync() => Next(_closed);

    public Task<string> NextAckedAsync() => Next(_acked);

    public Task<SessionState> NextStateAsync() => Next(_states);

    private static Task<T> Next<T>(Channel<T> channel) => channel.Reader.ReadAsync().AsTask().WaitAsync(SocketHost.Patience);
}
