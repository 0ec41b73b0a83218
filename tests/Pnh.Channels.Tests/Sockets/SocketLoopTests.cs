using System.Net;
using System.Net.Sockets;
using System.Text;
using System.Threading.Channels;
using Microsoft.Extensions.Logging.Abstractions;
using Pnh.Channels.Net.Epoll;

namespace Pnh.Channels.Tests.Sockets;

/// <summary>Connections of a loop, over real TCP.</summary>
public sealed class SocketLoopTests : IDisposable
{
    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(20);
    private readonly LoudLines<SocketLoops> _log = new();
    private readonly SocketLoops _loops;
    private readonly Channel<Talker> _talkers = Channel.CreateUnbounded<Talker>();

    public SocketLoopTests() => _loops = new(2, TimeProvider.System, _log);

    [Fact]
    public async Task Client_ThrowsOnEachConnection_IsOneLineASecond()
    {
        var port = Listen();
        for (var i = 0; i < 20; i++)
        {
            using var peer = await ConnectAsync(port);
            var talker = await NextAsync();
            await peer.SendAsync("throw\n"u8.ToArray());
            await talker.Gone.Task.WaitAsync(Patience);
        }

        _log.AssertPaced();
    }

    [Fact]
    public async Task Receive_AMessageInPieces_ComesWholeAndNothingIsKept()
    {
        using var peer = await ConnectAsync(Listen());
        var talker = await NextAsync();
        await peer.SendAsync("hal"u8.ToArray());
        await peer.SendAsync("f\nwhole\nre"u8.ToArray());
        Assert.Equal("half", await talker.NextLineAsync());
        Assert.Equal("whole", await talker.NextLineAsync());
        await peer.SendAsync("st\n"u8.ToArray());
        Assert.Equal("rest", await talker.NextLineAsync());
        Assert.Equal(0, talker.Socket!.Rest.Length);
    }

    [Fact]
    public async Task Send_MoreThanFits_GoesOnWhenThereIsRoom()
    {
        using var peer = await ConnectAsync(Listen());
        var talker = await NextAsync();
        await peer.SendAsync("go\n"u8.ToArray());
        _ = await talker.NextLineAsync();
        var block = new byte[1 << 20];
        var sent = 0;
        int taken;
        while ((taken = talker.Socket!.Send(block)) > 0)
        {
            sent += taken;
        }

        Assert.Equal(0, taken);
        talker.Socket.AwaitRoom();
        var read = 0;
        var buffer = new byte[1 << 20];
        while (read < sent)
        {
            read += await peer.ReceiveAsync(buffer);
        }

        await talker.Room.Task.WaitAsync(Patience);
        Assert.True(talker.Socket.Send("x"u8) > 0);
    }

    [Fact]
    public async Task Pause_ThenResume_DeliversWhatWasLeftOver()
    {
        using var peer = await ConnectAsync(Listen());
        var talker = await NextAsync();
        talker.IsBusy = true;
        await peer.SendAsync("later\n"u8.ToArray());
        await talker.Refused.Task.WaitAsync(Patience);
        talker.IsBusy = false;
        talker.Socket!.ResumeReading();
        Assert.Equal("later", await talker.NextLineAsync());
    }

    [Fact]
    public async Task Close_AfterASend_ThePeerReadsItAndTheEnd()
    {
        using var peer = await ConnectAsync(Listen());
        var talker = await NextAsync();
        await peer.SendAsync("bye\n"u8.ToArray());
        _ = await talker.NextLineAsync();
        Assert.Equal(4, talker.Socket!.Send("bye!"u8));
        talker.Socket.Close();
        Assert.Equal(-1, talker.Socket.Send("late"u8));
        var buffer = new byte[16];
        Assert.Equal(4, await peer.ReceiveAsync(buffer));
        Assert.Equal(0, await peer.ReceiveAsync(buffer));
        await talker.Gone.Task.WaitAsync(Patience);
    }

    [Fact]
    public async Task Abort_ByEitherSide_TellsTheClientOnce()
    {
        var listener = Listen();
        var peer = await ConnectAsync(listener);
        var talker = await NextAsync();
        peer.LingerState = new LingerOption(enable: true, seconds: 0);
        peer.Dispose();
        await talker.Gone.Task.WaitAsync(Patience);

        using var other = await ConnectAsync(listener);
        talker = await NextAsync();
        talker.Socket!.Abort();
        talker.Socket.Abort();
        await talker.Gone.Task.WaitAsync(Patience);
        Assert.Equal(1, talker.GoneCount);
        await Assert.ThrowsAsync<SocketException>(async () => await other.ReceiveAsync(new byte[1]));
    }

    [Fact]
    public async Task Receive_ClientThrows_DropsThatConnectionOnly()
    {
        var listener = Listen();
        using var bad = await ConnectAsync(listener);
        var badTalker = await NextAsync();
        using var good = await ConnectAsync(listener);
        var goodTalker = await NextAsync();
        await bad.SendAsync("throw\n"u8.ToArray());
        await badTalker.Gone.Task.WaitAsync(Patience);
        await good.SendAsync("fine\n"u8.ToArray());
        Assert.Equal("fine", await goodTalker.NextLineAsync());
    }

    [Fact]
    public async Task Listen_OverTheRate_TakesTheRestLater()
    {
        var listener = Listen(perSecond: 200);
        var peers = new List<Socket>();
        for (var i = 0; i < 20; i++)
        {
            peers.Add(await ConnectAsync(listener));
        }

        for (var i = 0; i < 20; i++)
        {
            _ = await NextAsync();
        }

        peers.ForEach(static peer => peer.Dispose());
    }

    /// <summary>What epoll refuses now, here because it has the descriptor already, it takes later.</summary>
    [Fact]
    public async Task Listen_EpollRefusesAtFirst_IsTriedAgain()
    {
        var socket = new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp) { Blocking = false }; // the listener's
        socket.Bind(new IPEndPoint(IPAddress.Loopback, 0));
        socket.Listen();
        var loop = _loops.Next();
        var listener = new LoopListener(
            socket, _loops, loop, Create, ConnectionBudget.Unlimited(TimeProvider.System, NullLogger.Instance), 10_000, TimeProvider.System, NullLogger.Instance);
        Assert.Equal(0, Syscalls.Control(loop.Epoll, Syscalls.EpollAdd, listener.Descriptor, 0));
        loop.Listen(listener);
        var refused = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        loop.Post(refused.SetResult);
        await refused.Task.WaitAsync(Patience);
        Assert.Equal(0, Syscalls.Control(loop.Epoll, Syscalls.EpollDelete, listener.Descriptor, 0));

        using var peer = await ConnectAsync(listener);
        _ = await NextAsync();
    }

    [Fact]
    public async Task Detach_GivesTheConnectionAway()
    {
        using var peer = await ConnectAsync(Listen());
        var talker = await NextAsync();
        await peer.SendAsync("detach\n"u8.ToArray());
        using var given = await talker.Detached.Task.WaitAsync(Patience);
        await peer.SendAsync("hello"u8.ToArray());
        var buffer = new byte[16];
        Assert.Equal(5, await given!.ReceiveAsync(buffer));
        Assert.Equal(-1, talker.Socket!.Send("late"u8));
        Assert.Equal(0, talker.GoneCount);
    }

    public void Dispose() => _loops.Dispose();

    private LoopListener Listen(int perSecond = 10_000) => _loops.Listen(new IPEndPoint(IPAddress.Loopback, 0), perSecond, Create);

    private Talker Create()
    {
        var talker = new Talker();
        _talkers.Writer.TryWrite(talker);
        return talker;
    }

    private static async Task<Socket> ConnectAsync(LoopListener listener)
    {
        var socket = new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp) { NoDelay = true };
        await socket.ConnectAsync(listener.EndPoint);
        await socket.SendAsync("\n"u8.ToArray()); // an empty line, so that its client knows its socket
        return socket;
    }

    private async Task<Talker> NextAsync()
    {
        var talker = await _talkers.Reader.ReadAsync().AsTask().WaitAsync(Patience);
        Assert.Equal("", await talker.NextLineAsync());
        return talker;
    }

    /// <summary>Speaks lines.</summary>
    private sealed class Talker : ILoopClient
    {
        private readonly Channel<string> _lines = Channel.CreateUnbounded<string>();

        public LoopSocket? Socket { get; private set; }

        public volatile bool IsBusy;

        public int GoneCount;

        public TaskCompletionSource Room { get; } = new(TaskCreationOptions.RunContinuationsAsynchronously);

        public TaskCompletionSource Refused { get; } = new(TaskCreationOptions.RunContinuationsAsynchronously);

        public TaskCompletionSource Gone { get; } = new(TaskCreationOptions.RunContinuationsAsynchronously);

        public TaskCompletionSource<Socket?> Detached { get; } = new(TaskCreationOptions.RunContinuationsAsynchronously);

        public Task<string> NextLineAsync() => _lines.Reader.ReadAsync().AsTask().WaitAsync(Patience);

        public int Receive(LoopSocket socket, ReadOnlySpan<byte> bytes)
        {
            Socket = socket;
            if (IsBusy)
            {
                socket.PauseReading();
                Refused.TrySetResult();
                return 0;
            }

            var used = 0;
            while (bytes[used..].IndexOf((byte)'\n') is >= 0 and var end)
            {
                var line = Encoding.ASCII.GetString(bytes.Slice(used, end));
                used += end + 1;
                if (line == "throw")
                {
                    throw new InvalidOperationException("by the test");
                }

                if (line == "detach")
                {
                    Detached.SetResult(socket.Detach());
                    return used;
                }

                _lines.Writer.TryWrite(line);
            }

            return used;
        }

        public void HasRoom(LoopSocket socket) => Room.TrySetResult();

        public bool Ended(LoopSocket socket) => false;

        public void Closed(LoopSocket socket)
        {
            Interlocked.Increment(ref GoneCount);
            Gone.TrySetResult();
        }
    }
}
