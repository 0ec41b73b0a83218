using System.Net;
using Microsoft.AspNetCore.Connections;
using Microsoft.Extensions.Logging.Abstractions;
using Pnh.Api.Access;
using Pnh.Api.Configuration;
using Pnh.Api.DirectHttp;
using Pnh.Api.Listeners;
using Pnh.Api.Tests.EndToEnd;
using Pnh.Channels.Net.Epoll;
using Pnh.Channels.WebSockets.Sessions;
using Pnh.Core.Diagnostics;
using Pnh.Core.Sessions;
using Pnh.TestKit;

namespace Pnh.Api.Tests.Ingest;

/// <summary>A client that takes its time is closed, by one clock for all.</summary>
public sealed class FrontTimesTests : IAsyncLifetime, IDisposable
{
    private readonly FakeTimeProvider _time = new();
    private readonly SocketLoops _loops = new(1, TimeProvider.System, NullLogger.Instance);
    private IConnectionListener _listener = null!;
    private readonly TaskCompletionSource<LoopSocket> _upgraded = new(TaskCreationOptions.RunContinuationsAsynchronously);
    private string _secret = "";

    private static PnhOptions Options { get; } = new() { Data = "/" };

    private int Port => ((IPEndPoint)_listener.EndPoint).Port;

    public async Task InitializeAsync()
    {
        var (secret, key) = PublisherKey.Create("demo", Scope.Send);
        _secret = secret;
        var parts = new FrontParts(null!, new PublisherKeys([key]), null!, Accept, Answers(), _time, NullLogger<HttpFront>.Instance);
        var transport = new DirectListenerFactory(_loops, parts, Options, Budgets(), NullLoggerFactory.Instance);
        _listener = await transport.BindAsync(new DirectEndPoint(IPAddress.Loopback, 0));
    }

    private static RouteMetrics Answers() => new RequestMetrics(Prometheus.Metrics.NewCustomRegistry()).OfEvents;

    private ConnectionBudgets Budgets() => new(Options, _time, NullLogger<ConnectionBudget>.Instance);

    public async Task DisposeAsync() => await _listener.DisposeAsync();

    public void Dispose() => _loops.Dispose();

    [Fact]
    public async Task Head_NotWholeInTenSeconds_Is408() =>
        Assert.StartsWith("HTTP/1.1 408 Request Timeout\r\nConnection: close\r\n", await LeaveAloneAsync("POST /v1/ev"), StringComparison.Ordinal);

    [Fact]
    public async Task Body_StandsStill_Is408WithAProblem()
    {
        var answer = await LeaveAloneAsync(
            $"POST /v1/events HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer {_secret}\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n{{");

        Assert.StartsWith("HTTP/1.1 408 ", answer, StringComparison.Ordinal);
        Assert.Contains("\"code\":\"request-timeout\"", answer, StringComparison.Ordinal);
    }

    /// <summary>A mean over the whole body would wait for three minutes.</summary>
    [Fact]
    public async Task Body_FastForLongThenNothing_Is408AfterAWindow()
    {
        using var client = await RawClient.ConnectAsync(Port);
        await client.SendAsync(
            $"POST /v1/events HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer {_secret}\r\nContent-Type: application/json\r\nContent-Length: 60000\r\n\r\n{new string(' ', 50_000)}");
        var answer = client.ReceiveAllAsync();
        var seconds = 0;
        while (await Task.WhenAny(answer, Task.Delay(20)) != answer)
        {
            _time.Advance(TimeSpan.FromSeconds(1));
            Assert.InRange(++seconds, 1, 60);
            await TurnAsync();
        }

        Assert.StartsWith("HTTP/1.1 408 ", await answer, StringComparison.Ordinal);
    }

    [Fact]
    public async Task Idle_OverTheKeepAlive_IsClosed() => Assert.Equal("", await LeaveAloneAsync(""));

    [Fact]
    public async Task Idle_HubIsOlderThanTheKeepAlive_WaitsAllOfIt()
    {
        _time.Advance(TimeSpan.FromSeconds(200));
        using var client = await RawClient.ConnectAsync(Port);
        await TestHub.EventuallyAsync(() => _loops.Count, static count => count == 1);
        await TurnAsync(); // opened
        for (var i = 0; i < 3; i++)
        {
            _time.Advance(TimeSpan.FromSeconds(1));
            await TurnAsync();
        }

        Assert.Equal(1, _loops.Count);
        _time.Advance(TimeSpan.FromSeconds(127));
        await TurnAsync();
        Assert.Equal(1, _loops.Count);
        _time.Advance(TimeSpan.FromSeconds(1));
        Assert.Equal("", await client.ReceiveAllAsync());
    }

    [Fact]
    public async Task Head_Slow_IsLeftAloneForTenSeconds()
    {
        using var client = await RawClient.ConnectAsync(Port);
        await client.SendAsync("POST /v1/ev");
        await TestHub.EventuallyAsync(() => _loops.Count, static count => count == 1);
        _time.Advance(TimeSpan.FromSeconds(9));
        await client.SendAsync("il HTTP/1.1\r\n");

        Assert.NotNull(await _listener.AcceptAsync().AsTask().WaitAsync(TimeSpan.FromSeconds(60)));
    }

    [Fact]
    public async Task Bind_PortTaken_SaysSo()
    {
        var parts = new FrontParts(null!, new PublisherKeys([]), null!, null!, Answers(), _time, NullLogger<HttpFront>.Instance);
        var transport = new DirectListenerFactory(_loops, parts, Options, Budgets(), NullLoggerFactory.Instance);

        await Assert.ThrowsAsync<AddressInUseException>(async () => await transport.BindAsync(new DirectEndPoint(IPAddress.Loopback, Port)));
    }

    /// <summary>The upgrade and the look at the time (or the stop's abort) come in one turn of the loop, in this order: the connection is not HTTP's any more.</summary>
    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task Look_ConnectionUpgradedInTheSameTurn_LeavesItAlone(bool stops)
    {
        using var client = await RawClient.ConnectAsync(Port);
        await TestHub.EventuallyAsync(() => _loops.Count, static count => count == 1);
        var loop = _loops.Next();
        var held = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        var hasLooked = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        using var goesOn = new ManualResetEventSlim();
        loop.Post(() =>
        {
            held.SetResult();
            goesOn.Wait();
        });
        await held.Task.WaitAsync(TimeSpan.FromSeconds(60));
        await client.SendAsync(
            "GET /v1/socket HTTP/1.1\r\nHost: hub\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n");
        if (stops)
        {
            await _listener.DisposeAsync();
        }
        else
        {
            _time.Advance(TimeSpan.FromMinutes(3));
        }

        loop.Post(hasLooked.SetResult);
        goesOn.Set();
        await hasLooked.Task.WaitAsync(TimeSpan.FromSeconds(60));

        Assert.Equal(5, (await _upgraded.Task.WaitAsync(TimeSpan.FromSeconds(60))).Send("alive"u8));
        Assert.Equal(101, (await client.ReceiveAsync()).Status);
        var arrived = "";
        await client.ReceiveUntilAsync(text => (arrived = text).Length >= 5);
        Assert.Equal("alive", arrived);
    }

    private Quiet Accept(LoopSocket socket, ClientCredential? client, ConnectionPeer peer)
    {
        _upgraded.SetResult(socket);
        return new Quiet();
    }

    // What was posted to the loop is done, and what that posted.
    private async Task TurnAsync()
    {
        for (var i = 0; i < 2; i++)
        {
            var done = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
            _loops.Next().Post(done.SetResult);
            await done.Task.WaitAsync(TimeSpan.FromSeconds(60));
        }
    }

    // Time goes on until the hub closes.
    private async Task<string> LeaveAloneAsync(string request)
    {
        using var client = await RawClient.ConnectAsync(Port);
        await client.SendAsync(request);
        var answer = client.ReceiveAllAsync();
        while (await Task.WhenAny(answer, Task.Delay(10)) != answer)
        {
            _time.Advance(TimeSpan.FromSeconds(1));
        }

        return await answer;
    }

    /// <summary>Who speaks after the upgrade, and says nothing.</summary>
    private sealed class Quiet : ILoopClient
    {
        public int Receive(LoopSocket socket, ReadOnlySpan<byte> bytes) => bytes.Length;

        public void HasRoom(LoopSocket socket)
        {
        }

        public bool Ended(LoopSocket socket) => false;

        public void Closed(LoopSocket socket)
        {
        }
    }
}
