using System.Threading.Channels;
using Pnh.Channels.Links;
using Pnh.Core.Events;
using Pnh.Core.Sessions;

namespace Pnh.Channels.Tests.WebSockets;

/// <summary>
/// Sockets and hub as if they lived on two nodes: every call, in both directions, becomes bytes that another thread turns back into a call.
/// Nothing else crosses. What the hub sends is on its way at once; what a session does not take comes back as
/// <see cref="ISessionEvents.Refused"/>, and with it what was on its way behind, or a younger event would overtake.
/// </summary>
internal sealed partial class ByteLink : IAsyncDisposable
{
    private readonly Channel<byte[]> _toHub = Channel.CreateUnbounded<byte[]>();
    private readonly Channel<byte[]> _toEdge = Channel.CreateUnbounded<byte[]>();
    private readonly ISessionEvents _hub;
    private readonly Task _pumps;

    public ByteLink(ISessionEvents hub)
    {
        _hub = hub;
        Edge = new EdgeSide(this);
        Hub = new HubSide(this);
        _pumps = Task.WhenAll(Task.Run(() => PumpAsync(_toHub, CallHubAsync)), Task.Run(() => PumpAsync(_toEdge, CallEdge)));
    }

    /// <summary>Not on a real link: says that everything before it was heard.</summary>
    private const LinkItemKind Fence = (LinkItemKind)255;

    /// <summary>What the sockets take for the hub.</summary>
    public ISessionEvents Edge { get; }

    /// <summary>Runs when the hub has heard that an event was refused, and before the edge hears that the hub has.</summary>
    public Func<string, Task>? RefusalHeard { get; set; }

    /// <summary>Runs before an event is sent, under the shard's lock.</summary>
    public Action<string>? Sending { get; set; }

    /// <summary>Events that the hub has sent.</summary>
    public int Sent => Hub.Sent;

    /// <summary>Refusals of which the edge was told that the hub has heard them.</summary>
    public int Heard => Volatile.Read(ref _heard);

    private HubSide Hub { get; }

    /// <summary>Completes when everything said before has been heard, and what came back at once as well.</summary>
    public async Task FlushAsync()
    {
        var fence = Guid.NewGuid().ToString();
        var passed = _fences[fence] = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        Write(_toEdge, Fence, w => w.Text(fence));
        await passed.Task.WaitAsync(SocketHost.Patience);
    }

    public async ValueTask DisposeAsync()
    {
        _toHub.Writer.TryComplete();
        _toEdge.Writer.TryComplete();
        await _pumps;
    }

    // As off a socket: each item a batch, and a batch may hold several.
    private static async Task PumpAsync(Channel<byte[]> channel, Func<LinkItemKind, ReadOnlyMemory<byte>, Task> handleAsync)
    {
        await foreach (var bytes in channel.Reader.ReadAllAsync())
        {
            ReadOnlyMemory<byte> batch = bytes;
            while (LinkReader.TryTake(ref batch, out var kind, out var members))
            {
                await handleAsync(kind, members);
            }

            Assert.Equal(0, batch.Length);
        }
    }

    private static void Write(Channel<byte[]> channel, LinkItemKind kind, Action<LinkWriter> members)
    {
        var writer = new LinkWriter();
        members(writer.Begin(kind));
        writer.End();
        channel.Writer.TryWrite(writer.Written.ToArray());
    }

    /// <summary>The link as the hub holds it: one for all sessions, nothing but their names in it.</summary>
    private sealed class HubSide(ByteLink link) : ISessionLink
    {
        private int _sent;

        public int Sent => Volatile.Read(ref _sent);

        public bool TrySend(string session, Event accepted) => WriteEvent(LinkItemKind.Send, session, accepted);

        public bool TryReplay(string session, Event accepted) => WriteEvent(LinkItemKind.Replay, session, accepted);

        public bool TryWithdraw(string session, Withdrawal withdrawal) => Write(LinkItemKind.Withdraw, session, w => w.Withdrawal(withdrawal));

        public void Close(string session, SessionClose reason) => Write(LinkItemKind.Close, session, w => w.Number(reason.Code).Text(reason.Reason));

        private bool Write(LinkItemKind kind, string session, Action<LinkWriter> members)
        {
            ByteLink.Write(link._toEdge, kind, w => members(w.Text(session)));
            return true;
        }

        private bool WriteEvent(LinkItemKind kind, string session, Event accepted)
        {
            link.Sending?.Invoke(accepted.Id);
            Write(kind, session, w => w.Event(accepted, TimeProvider.System));
            Interlocked.Increment(ref _sent);
            return true;
        }
    }
}
