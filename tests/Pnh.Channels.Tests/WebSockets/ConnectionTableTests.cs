using System.Text;
using Microsoft.Extensions.Logging.Abstractions;
using Pnh.Channels.WebSockets.Rfc6455;
using Pnh.Channels.WebSockets.Server;
using Pnh.Channels.WebSockets.Sessions;
using Pnh.Core.Sessions;
using Pnh.TestKit;

namespace Pnh.Channels.Tests.WebSockets;

/// <summary>Who is looked at when, on a fake clock, with connections that have no bytes.</summary>
public sealed class ConnectionTableTests
{
    private static readonly TimeSpan Calm = TimeSpan.FromSeconds(10);
    private readonly FakeTimeProvider _clock = new();
    private readonly RecordingHub _hub = new();
    private readonly ServerParts _parts;
    private readonly ConnectionTable _table;

    public ConnectionTableTests()
    {
        _parts = new ServerParts(_hub, _hub, _clock, new WebSocketServerOptions { HelloTimeout = TimeSpan.FromHours(1) }, null, NullLogger.Instance);
        _table = _parts.Connections;
        _clock.Advance(TimeSpan.FromSeconds(1));
    }

    [Fact]
    public void Add_MoreThanAChunk_AllAreThereAndDue()
    {
        var added = Enumerable.Range(0, 3_000).Select(_ => Add()).ToArray();
        Assert.Equal(added, _table.All());
        Assert.Equal((3_000, 3_000), (_table.Count, _table.Places));
        Assert.Equal(added, Enumerable.Range(0, 3_000).Select(place => _table.FindDue(place, Now)!));
    }

    [Fact]
    public void Remove_OneOfThree_LeavesTheOthersAndCountsOnce()
    {
        var (first, second, third) = (Add(), Add(), Add());
        Assert.True(_table.Remove(second));
        Assert.False(_table.Remove(second));
        Assert.False(_table.Remove(new Silent(_parts)));
        Assert.Equal([first, third], _table.All());
        Assert.Equal(2, _table.Count);
    }

    [Fact]
    public void Add_AfterARemoval_GetsThePlaceOnlyWhenTheRoundHasEnded()
    {
        var gone = Add();
        _table.Remove(gone);
        Assert.Equal(1, Add().Place);
        _table.LookAt(gone.Place, Now + 1); // by who was looking at it
        _table.EndRound();
        var next = Add();
        Assert.Equal(0, next.Place);
        Assert.Same(next, _table.FindDue(0, Now));
    }

    [Fact]
    public async Task Sweep_NothingWillBeOverdue_IsNotLookedAtBeforeItsTime()
    {
        var connection = await AddTalkingAsync();
        Sweep(connection);
        Assert.Null(_table.FindDue(connection.Place, Now));
        _clock.Advance(Calm - TimeSpan.FromTicks(1));
        Assert.Null(_table.FindDue(connection.Place, Now));
        _clock.Advance(TimeSpan.FromTicks(1));
        Assert.Same(connection, _table.FindDue(connection.Place, Now));
    }

    [Fact]
    public void Sweep_BeforeHello_IsLookedAtInEveryRound()
    {
        var connection = Add();
        Sweep(connection);
        Assert.Same(connection, _table.FindDue(connection.Place, Now));
    }

    [Fact]
    public async Task Sweep_TokenEndsSooner_IsLookedAtThenAndClosed()
    {
        _hub.Tokens["short-token"] = RecordingHub.Identity("ada") with { ExpiresAt = _clock.GetUtcNow() + (Calm / 2) };
        var connection = await AddTalkingAsync("short-token");
        Sweep(connection);
        _clock.Advance((Calm / 2) - TimeSpan.FromTicks(1));
        Assert.Null(_table.FindDue(connection.Place, Now));
        _clock.Advance(TimeSpan.FromTicks(1));
        Assert.Same(connection, _table.FindDue(connection.Place, Now));
        Sweep(connection);
        Assert.Same(SessionClose.TokenExpired, connection.Reason);
    }

    [Theory]
    [InlineData("a close")]
    [InlineData("a stuck write")]
    [InlineData("another token")]
    public async Task Sweep_SomethingBeganWhileCalm_IsLookedAtInTheNextRound(string what)
    {
        var connection = await AddTalkingAsync();
        Sweep(connection);
        Assert.Null(_table.FindDue(connection.Place, Now));
        connection.Begin(what, _clock.GetUtcNow());
        Assert.Same(connection, _table.FindDue(connection.Place, Now));
        Sweep(connection);
        Assert.Same(what == "another token" ? null : connection, _table.FindDue(connection.Place, Now));
    }

    [Theory]
    [InlineData("a close")]
    [InlineData("a stuck write")]
    [InlineData("another token")]
    public async Task Sweep_SomethingBeginsDuringTheLook_IsLookedAtInTheNextRound(string what)
    {
        var connection = await AddTalkingAsync();
        connection.During = () => connection.Begin(what, _clock.GetUtcNow());
        Sweep(connection);
        Assert.Same(connection, _table.FindDue(connection.Place, Now));
    }

    private long Now => _clock.GetTimestamp();

    private Silent Add()
    {
        var connection = new Silent(_parts);
        _table.Add(connection);
        return connection;
    }

    private async Task<Silent> AddTalkingAsync(string token = "ada-token")
    {
        var connection = Add();
        await connection.SayAsync($$"""{"type":"hello","token":"{{token}}","device":"tab-1"}""");
        return connection;
    }

    private void Sweep(Silent connection) => connection.Sweep(Now, _clock.GetUtcNow(), isDraining: false);

    private sealed class Silent(ServerParts parts) : Connection(parts, null, new ConnectionPeer("127.0.0.1", ""), CancellationToken.None)
    {
        /// <summary>Called while the sweep asks how long it will be calm.</summary>
        public Action? During { get; set; }

        public SessionClose? Reason => Closing;

        public override bool TryWrite(in Outgoing next) => false;

        public override void Abort() => Finish();

        public Task SayAsync(string message) => HandleAsync(Received.Text, Encoding.UTF8.GetBytes(message)).AsTask();

        public void Begin(string what, DateTimeOffset now)
        {
            switch (what)
            {
                case "a close":
                    Close(SessionClose.Drain);
                    break;
                case "a stuck write":
                    NoteWriting();
                    break;
                default:
                    Carry(Session!, now + (2 * Calm));
                    break;
            }
        }

        protected override TimeSpan CalmAt(long now)
        {
            During?.Invoke();
            return Calm;
        }

        protected override void Write()
        {
        }
    }
}
