using System.Threading.Channels;
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

    private enum Call : byte
    {
        Opened,
        Detached,
        Resumed,
        Closed,
        StateChanged,
        Acked,
        Refused,
        HasRoom,
        Answered,
        Joined,
        Left,
        Publish,
        Send,
        Replay,
        Withdraw,
        Close,
        Answer,
        GoOn,
        Fence,
    }

    /// <summary>What the sockets take for the hub.</summary>
    public ISessionEvents Edge { get; }

    private HubSide Hub { get; }

    /// <summary>Completes when everything said before has been heard, and what came back at once as well.</summary>
    public async Task FlushAsync()
    {
        var fence = Guid.NewGuid().ToString();
        var passed = _fences[fence] = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        Write(_toEdge, Call.Fence, w => w.Write(fence));
        await passed.Task.WaitAsync(SocketHost.Patience);
    }

    public async ValueTask DisposeAsync()
    {
        _toHub.Writer.TryComplete();
        _toEdge.Writer.TryComplete();
        await _pumps;
    }

    private static async Task PumpAsync(Channel<byte[]> channel, Func<BinaryReader, Task> handleAsync)
    {
        await foreach (var bytes in channel.Reader.ReadAllAsync())
        {
            using var reader = new BinaryReader(new MemoryStream(bytes));
            await handleAsync(reader);
        }
    }

    private static void Write(Channel<byte[]> channel, Call call, Action<BinaryWriter> members)
    {
        var bytes = new MemoryStream();
        using var writer = new BinaryWriter(bytes);
        writer.Write((byte)call);
        members(writer);
        writer.Flush();
        channel.Writer.TryWrite(bytes.ToArray());
    }

    /// <summary>The link as the hub holds it: one for all sessions, nothing but their names in it.</summary>
    private sealed class HubSide(ByteLink link) : ISessionLink
    {
        public bool TrySend(string session, Event accepted) => Write(Call.Send, session, w => WriteEvent(w, accepted));

        public bool TryReplay(string session, Event accepted) => Write(Call.Replay, session, w => WriteEvent(w, accepted));

        public bool TryWithdraw(string session, Withdrawal withdrawal) => Write(Call.Withdraw, session, w =>
        {
            w.Write(withdrawal.App);
            w.Write(withdrawal.Event);
            w.Write(withdrawal.Reason);
            w.Write(withdrawal.At.UtcTicks);
        });

        public void Close(string session, SessionClose reason) => Write(Call.Close, session, w =>
        {
            w.Write(reason.Code);
            w.Write(reason.Reason);
        });

        private bool Write(Call call, string session, Action<BinaryWriter> members)
        {
            ByteLink.Write(link._toEdge, call, w =>
            {
                w.Write(session);
                members(w);
            });
            return true;
        }
    }
}
