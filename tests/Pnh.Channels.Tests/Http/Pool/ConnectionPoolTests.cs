using System.Net;
using System.Net.Security;
using System.Net.Sockets;
using System.Threading.Channels;
using Pnh.Channels.Net.Http;
using Pnh.Channels.Net.Http2;
using Pnh.Channels.Provider.Connections;
using Pnh.Channels.Tests.Http.Wire;
using Pnh.TestKit;

namespace Pnh.Channels.Tests.Http.Pool;

public sealed class ConnectionPoolTests : IAsyncDisposable
{
    private readonly FakeTimeProvider _time = new();
    private readonly RawHttp2Server _server = new();
    private readonly ProviderServices _services;
    private ConnectionPool? _pool;

    public ConnectionPoolTests() => _services = TestServices.For(_server.Address, _time);

    public async ValueTask DisposeAsync()
    {
        if (_pool is not null)
        {
            await _pool.DisposeAsync();
        }

        await _server.DisposeAsync();
    }

    [Fact]
    public async Task Enter_ColdConnection_OnePlaceUntilProven()
    {
        Start(new() { StartsCold = true });
        var first = await EnterAsync();
        var second = EnterAsync();
        Assert.False(second.IsCompleted);
        Assert.Equal((1, 0), (Count(ConnectionState.Cold), Count(ConnectionState.Warm)));

        _pool!.Exit(first, answered: true, proven: false);
        var third = EnterAsync();
        Assert.False(third.IsCompleted);

        _pool.Exit(await second, answered: true, proven: true);
        await third;
        Assert.Equal((0, 1), (Count(ConnectionState.Cold), Count(ConnectionState.Warm)));
        Assert.Equal(1, _services.Gauges.InFlight);
    }

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public async Task Enter_SettingsAreReadBeforeTheConnectionIsThere_PlaceHasAConnection(bool startsCold)
    {
        Start(new() { StartsCold = startsCold }, services: TestServices.For(_server.Address, _time, new ConnectionTransports(new Hasty(), static _ => true, TimeProvider.System)));
        var accept = _server.AcceptAsync();
        var place = await EnterAsync();
        Assert.NotNull(place.Connection);
        var send = SendAsync(place);
        var peer = await accept;
        await peer.AnswerAsync(await peer.NextRequestAsync());
        using var answer = await send;
        Assert.Equal(200, answer.Status);
    }

    [Fact]
    public async Task Enter_SettingsFallToOneAndRise_AsManyPlacesAsThePeerAllows()
    {
        Start(new() { MaxConnections = 1 });
        var (peer, first) = await WarmAsync(maxStreams: 3);
        var places = new List<ConnectionPlace> { await EnterAsync(), await EnterAsync(), await EnterAsync() };
        var fourth = EnterAsync();
        Assert.False(fourth.IsCompleted);

        await peer.WriteSettingsAsync(1);
        await Waiting.UntilAsync(() => LimitOf(first) == 1);
        foreach (var place in places)
        {
            // Three go: the first two only make up for what was taken away.
            Assert.False(fourth.IsCompleted);
            _pool!.Exit(place, answered: true, proven: true);
        }

        var taken = await fourth;
        var fifth = EnterAsync();
        Assert.False(fifth.IsCompleted);
        await peer.WriteSettingsAsync(2);
        Assert.Same(taken.Connection, (await fifth).Connection);
    }

    [Fact]
    public async Task Enter_AllFull_AnotherConnectionUpToTheMost()
    {
        Start(new() { MaxInFlight = 2, MaxConnections = 2 });
        await WarmAsync();
        var (a, b, c) = (await EnterAsync(), await EnterAsync(), EnterAsync());

        var third = await c;
        Assert.Same(a.Connection, b.Connection);
        Assert.NotSame(a.Connection, third.Connection);
        _pool!.Exit(third, answered: true, proven: true);
        var (d, e, f) = (await EnterAsync(), await EnterAsync(), EnterAsync());

        Assert.Same(third.Connection, d.Connection);
        Assert.Same(third.Connection, e.Connection);
        Assert.False(f.IsCompleted);
        Assert.Equal(2, Count(ConnectionState.Warm));
        _pool.Exit(a, answered: true, proven: true);
        Assert.Same(a.Connection, (await f).Connection);
    }

    [Fact]
    public async Task Enter_TwoConnections_LoadIsShared()
    {
        Start(new() { MaxInFlight = 2, MaxConnections = 2 });
        await WarmAsync();
        var places = new[] { await EnterAsync(), await EnterAsync(), await EnterAsync() };
        Array.ForEach(places, place => _pool!.Exit(place, answered: true, proven: true));

        var together = 0;
        for (var i = 0; i < 200; i++)
        {
            // The less loaded of two taken by chance: with one busy, the other is missed only when the busy one was drawn twice.
            var one = await EnterAsync();
            var other = await EnterAsync();
            together += one.Connection == other.Connection ? 1 : 0;
            _pool!.Exit(one, answered: true, proven: true);
            _pool.Exit(other, answered: true, proven: true);
        }

        Assert.InRange(together, 1, 100);
    }

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public async Task Stall_RequestsWithoutAnyAnswer_ReplacedAndTheirRequestsReadableForHalfAMinute(bool isAnswered)
    {
        Start(new());
        var (peer, _) = await WarmAsync();
        var stuck = await EnterAsync();
        var send = SendAsync(stuck);
        var stream = await peer.NextRequestAsync();

        _time.Advance(TimeSpan.FromSeconds(7));
        Assert.Equal(1, Count(ConnectionState.Warm));
        _time.Advance(TimeSpan.FromSeconds(3));
        Assert.Equal((0, 1), (Count(ConnectionState.Warm), _services.Gauges.Ends(ConnectionEnd.Stalled)));
        Assert.NotSame(stuck.Connection, (await EnterAsync()).Connection);
        _time.Advance(TimeSpan.FromSeconds(28));
        Assert.False(send.IsCompleted);

        if (isAnswered)
        {
            await peer.AnswerAsync(stream);
        }
        else
        {
            _time.Advance(TimeSpan.FromSeconds(4));
        }

        using var answer = await send;
        Assert.Equal(isAnswered ? SendFault.None : SendFault.Ambiguous, answer.Fault);
        _pool!.Exit(stuck, answered: isAnswered, proven: false);
    }

    [Fact]
    public async Task Unanswered_ColdConnection_AnotherTakesItsPartAndItIsReadToTheEnd()
    {
        Start(new() { StartsCold = true });
        var accept = _server.AcceptAsync();
        var first = await EnterAsync();
        var send = SendAsync(first);
        var peer = await accept;
        var stream = await peer.NextRequestAsync();

        _pool!.Unanswered(first);
        var second = await EnterAsync();
        Assert.NotSame(first.Connection, second.Connection);
        await peer.AnswerAsync(stream);
        using var answer = await send;
        Assert.Equal(SendFault.None, answer.Fault);
        _pool.Exit(first, answered: true, proven: true);
        _pool.Exit(second, answered: false, proven: false);
    }

    [Fact]
    public async Task Stall_OneAnswersNowAndThen_KeptHoweverSlow()
    {
        Start(new());
        await WarmAsync();
        var slow = await EnterAsync();

        for (var i = 0; i < 10; i++)
        {
            var quick = await EnterAsync();
            _time.Advance(TimeSpan.FromSeconds(5));
            _pool!.Exit(quick, answered: true, proven: true);
        }

        Assert.Equal(1, Count(ConnectionState.Warm));
        _pool!.Exit(slow, answered: false, proven: false);
    }

    [Fact]
    public async Task Stall_PlaceGivenBackUnsent_NoSilence()
    {
        Start(new() { MaxInFlight = 1, MaxConnections = 1 });
        var (_, warm) = await WarmAsync();
        _pool!.Return(await EnterAsync());

        // A waiter that gave up took its place for a moment too.
        var only = await EnterAsync();
        using var stop = new CancellationTokenSource();
        var waiting = _pool.EnterAsync(stop.Token).AsTask();
        await stop.CancelAsync();
        await waiting;
        _pool.Exit(only, answered: true, proven: true);

        _time.Advance(TimeSpan.FromSeconds(20));

        Assert.Equal((1, 0), (Count(ConnectionState.Warm), _services.Gauges.Ends(ConnectionEnd.Stalled)));
        Assert.Same(warm.Connection, (await EnterAsync()).Connection);
    }

    [Fact]
    public async Task Stall_PlaceGivenBackUnsentAfterATimeout_TheTimeoutStillCounts()
    {
        Start(new());
        await WarmAsync();
        _pool!.Exit(await EnterAsync(), answered: false, proven: false);
        _time.Advance(TimeSpan.FromSeconds(5));
        _pool.Return(await EnterAsync());

        _time.Advance(TimeSpan.FromSeconds(5));

        Assert.Equal((0, 1), (Count(ConnectionState.Warm), _services.Gauges.Ends(ConnectionEnd.Stalled)));
    }

    [Fact]
    public async Task GoAway_InFlightFinishesTheRestGoesElsewhere()
    {
        Start(new());
        var (peer, _) = await WarmAsync();
        var under = await EnterAsync();
        var send = SendAsync(under);
        var stream = await peer.NextRequestAsync();

        await peer.GoAwayAsync(stream, 0, """{"reason":"Shutdown"}""");
        await Waiting.UntilAsync(() => Count(ConnectionState.Draining) == 1);
        var elsewhere = await EnterAsync();

        Assert.NotSame(under.Connection, elsewhere.Connection);
        await peer.AnswerAsync(stream);
        Assert.Equal(200, (await send).Status);
        _pool!.Exit(under, answered: true, proven: true);
        Assert.Equal((0, 1), (Count(ConnectionState.Draining), _services.Gauges.Ends(ConnectionEnd.GoAway)));
    }

    [Fact]
    public async Task GoAway_RoutineOfConnectionsThatServed_DialsAreGivenBack()
    {
        Start(new() { MaxConnections = 1 });
        for (var i = 0; i < 12; i++)
        {
            // The bucket of 3 is not refilled meanwhile: the clock stands still.
            var (peer, place) = await WarmAsync();
            await peer.GoAwayAsync(1, 0);
            await Waiting.UntilAsync(() => ((PooledConnection)place.Owner!).IsDraining);
        }

        Assert.Equal((12, 12), (_services.Gauges.Dials, _services.Gauges.Ends(ConnectionEnd.GoAway)));
    }

    [Fact]
    public async Task GoAway_WithAnErrorOfConnectionsThatServed_CountsAndSaysSo()
    {
        Start(new() { MaxConnections = 1 });
        for (var i = 0; i < 3; i++)
        {
            var (peer, place) = await WarmAsync();
            await peer.GoAwayAsync(1, 11);
            await Waiting.UntilAsync(() => ((PooledConnection)place.Owner!).IsDraining);
        }

        Assert.Equal("dial-paced", (await EnterAsync()).Fault);
        Assert.Equal(3, _services.Gauges.Dials);
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task Enter_PeerWithoutSettings_AFailedDial(bool direct)
    {
        var log = new LogLines();
        var transports = new ConnectionTransports(new DirectTransport(_time), _ => direct, _time);
        var services = TestServices.For(_server.Address, _time, transports) with { Loggers = log };
        Start(new() { StartsCold = true }, services: services);
        var accept = _server.AcceptSilentAsync();
        var place = await EnterAsync();
        var send = SendAsync(place);
        var peer = await accept;
        var read = peer.ReadToEndAsync();

        // Until the clock of the preface runs, nothing counts.
        while (await Task.WhenAny(send, Task.Delay(20)) != send)
        {
            _time.Advance(TimeSpan.FromSeconds(3.5));
        }

        using var answer = await send;
        _pool!.Exit(place, answered: false, proven: false);
        Assert.Equal((SendFault.NotSent, "no-settings"), (answer.Fault, answer.FaultReason));
        await Waiting.UntilAsync(() => services.Gauges.DialFailures == 1);
        Assert.Equal((0, 0), (services.Gauges.Dials, services.Gauges.Ends(ConnectionEnd.Lost)));
        Assert.EndsWith("no-settings", Assert.Single(log.Of("DialFailed")), StringComparison.Ordinal);
        await read;
    }

    [Fact]
    public async Task GoAway_StormOfThem_DialsStayWithinTheBudget()
    {
        Start(new() { MaxConnections = 2 });
        var accepting = AcceptAndGoAwayAsync();
        for (var i = 0; i < 200; i++)
        {
            if (await EnterAsTimePassesAsync() is { Connection: not null } place)
            {
                using var answer = await SendAsync(place);
                Assert.NotEqual(SendFault.None, answer.Fault);
                _pool!.Exit(place, answered: false, proven: false);
            }

            _time.Advance(TimeSpan.FromMilliseconds(100));
        }

        // The bucket of 4 and one more for each 5 s; the pauses after dials in vain make it fewer.
        Assert.InRange(_services.Gauges.Dials, 2, 4 + (int)((_time.GetUtcNow() - _time.Start) / DialBudget.Refill) + 1);
        await _server.DisposeAsync();
        await accepting;
    }

    [Fact]
    public async Task Lifetime_Over_SuccessorIsOpenBeforeItDrains()
    {
        Start(new() { StallAfter = TimeSpan.FromDays(1) });
        await WarmAsync();
        var old = await EnterAsync();

        // No further: the dial has 3.5 s of this clock.
        _time.Advance(((PooledConnection)old.Owner!).Lifetime + TimeSpan.FromSeconds(2));
        await Waiting.UntilAsync(() => Count(ConnectionState.Draining) == 1);

        Assert.Equal((1, 1), (_services.Gauges.Ends(ConnectionEnd.Lifetime), Count(ConnectionState.Cold)));
        Assert.NotSame(old.Connection, (await EnterAsync()).Connection);
        _pool!.Exit(old, answered: true, proven: true);
        Assert.Equal(0, Count(ConnectionState.Draining));
    }

    [Fact]
    public async Task Idle_ForLong_Closed()
    {
        Start(new());
        await WarmAsync();

        _time.Advance(TimeSpan.FromMinutes(3) + TimeSpan.FromSeconds(2));

        Assert.Equal((0, 1), (Count(ConnectionState.Warm), _services.Gauges.Ends(ConnectionEnd.Idle)));
        Assert.NotNull((await EnterAsync()).Connection);
    }

    [Fact]
    public async Task Enter_NobodyListens_AShortPauseIsWaitedForALongOneToldAtOnce()
    {
        using var nobody = new ClosedPort();
        Start(new(), nobody.Address);
        while (_services.Gauges.DialFailures < 7)
        {
            Assert.Equal("connect-failed", (await EnterAsTimePassesAsync()).Fault);
            _time.Advance(TimeSpan.FromSeconds(1));
        }

        // The seventh pause is 8 s or more.
        for (var i = 0; i < 50; i++)
        {
            Assert.Equal("connect-failed", (await EnterAsync()).Fault);
        }

        Assert.Equal(7, _services.Gauges.DialFailures);
        _time.Advance(DialBudget.LongestPause);
        await EnterAsync();
        Assert.Equal(8, _services.Gauges.DialFailures);
    }

    [Fact]
    public async Task Enter_DialThatIsNeverAnswered_FailsBeforeTheShortestAttemptWould()
    {
        // The kernel takes the connection, nobody shakes hands. Apple's attempts have 5 s, of which a request may have waited one for its dial.
        using var hole = new TcpListener(IPAddress.Loopback, 0);
        hole.Start();
        Start(new(), new Uri($"https://localhost:{((IPEndPoint)hole.LocalEndpoint).Port}"));
        var waiting = _pool!.EnterAsync(CancellationToken.None).AsTask();
        await _time.WaitForTimersAsync(1);
        _time.Advance(ProviderDial.Timeout - TimeSpan.FromMilliseconds(1));
        Assert.False(waiting.IsCompleted);

        _time.Advance(TimeSpan.FromMilliseconds(1));

        Assert.Equal("connect-timeout", (await waiting.WaitAsync(Sample.Limit)).Fault);
        Assert.InRange(ProviderDial.Timeout, TimeSpan.FromSeconds(3), TimeSpan.FromSeconds(4));
    }

    [Fact]
    public async Task Enter_CancelledWhileAllIsFull_BusyAndNoPlaceLost()
    {
        Start(new() { MaxInFlight = 1, MaxConnections = 1 });
        await WarmAsync();
        var only = await EnterAsync();
        using var stop = new CancellationTokenSource();
        var waiting = _pool!.EnterAsync(stop.Token).AsTask();

        await stop.CancelAsync();

        Assert.Equal(ConnectionPlace.Busy, (await waiting).Fault);
        _pool.Exit(only, answered: true, proven: true);
        Assert.Equal(0, _pool.InFlight);
        Assert.NotNull((await EnterAsync()).Connection);
    }

    [Fact]
    public async Task Dispose_WhileOneWaits_WaiterIsAnswered()
    {
        Start(new() { MaxInFlight = 1, MaxConnections = 1 });
        await WarmAsync();
        await EnterAsync();
        var waiting = EnterAsync();

        await _pool!.DisposeAsync();

        Assert.Equal("connection-closed", (await waiting).Fault);
        Assert.Equal("connection-closed", (await EnterAsync()).Fault);
    }

    private void Start(Shape shape, Uri? origin = null, ProviderServices? services = null) => _pool = new ConnectionPool(
        new PoolOptions
        {
            Origin = origin ?? _server.Address,
            MaxConnections = shape.MaxConnections,
            MaxInFlight = shape.MaxInFlight,
            StartsCold = shape.StartsCold,
            Lifetime = TimeSpan.FromHours(1),
            IdleTimeout = TimeSpan.FromMinutes(3),
            StallAfter = shape.StallAfter,
        },
        services ?? _services);

    /// <summary>Sends one request over the pool's first connection and answers it.</summary>
    private async Task<(RawHttp2Peer Peer, ConnectionPlace Place)> WarmAsync(uint maxStreams = 100)
    {
        var accept = _server.AcceptAsync(maxStreams);
        var place = await EnterAsync();
        var send = SendAsync(place);
        var peer = await accept;
        await peer.AnswerAsync(await peer.NextRequestAsync());
        using var answer = await send;
        Assert.Equal(200, answer.Status);
        await Waiting.UntilAsync(() => ((PooledConnection)place.Owner!).HasSettings);
        _pool!.Exit(place, answered: true, proven: true);
        return (peer, place);
    }

    private async Task AcceptAndGoAwayAsync()
    {
        try
        {
            while (true)
            {
                var peer = await _server.AcceptAsync();
                await peer.GoAwayAsync(0, 0);
            }
        }
        catch (ChannelClosedException)
        {
            // The test is over.
        }
    }

    private int Count(ConnectionState state) => _pool!.Count(state);

    private static int LimitOf(ConnectionPlace place) => ((PooledConnection)place.Owner!).Limit;

    private Task<ConnectionPlace> EnterAsync() => _pool!.EnterAsync(CancellationToken.None).AsTask().WaitAsync(Sample.Limit);

    /// <summary>As <see cref="EnterAsync"/>, while the clock goes on.</summary>
    private async Task<ConnectionPlace> EnterAsTimePassesAsync()
    {
        var enter = EnterAsync();
        while (await Task.WhenAny(enter, Task.Delay(10)) != enter)
        {
            _time.Advance(TimeSpan.FromMilliseconds(100));
        }

        return await enter;
    }

    private static Task<ProviderAnswer> SendAsync(ConnectionPlace place) => place.Connection!.SendAsync(
        new ProviderRequest { PathPrefix = "/", PathEnd = "x", Headers = default, Body = SplicedBody.Empty }, CancellationToken.None).AsTask().WaitAsync(Sample.Limit);

    /// <summary>Its reading path is quicker than who opens it.</summary>
    private sealed class Hasty : IConnectionTransport
    {
        private readonly FrameworkTransport _inner = new(TimeProvider.System);

        public string Name => "hasty";

        public IProviderConnection Open(SslStream stream, ConnectionOptions options, IConnectionObserver observer)
        {
            observer.StreamLimit(100);
            return _inner.Open(stream, options, observer);
        }
    }

    private sealed record Shape
    {
        public int MaxConnections { get; init; } = 2;

        public int MaxInFlight { get; init; } = 100;

        public bool StartsCold { get; init; }

        public TimeSpan StallAfter { get; init; } = TimeSpan.FromSeconds(8);
    }
}
