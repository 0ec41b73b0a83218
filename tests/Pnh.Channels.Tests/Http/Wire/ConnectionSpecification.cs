using System.Text;
using Pnh.Channels.Net.Http;
using Pnh.Channels.Provider.Connections;
using Pnh.TestKit;

namespace Pnh.Channels.Tests.Http.Wire;

/// <summary>What every transport's connection must do. A transport is tested by a class that derives from this one.</summary>
public abstract class ConnectionSpecification : IAsyncDisposable
{
    private readonly RawHttp2Server _server = new();
    private readonly Observer _observer = new();
    private IProviderConnection? _connection;
    private RawHttp2Peer? _peer;

    private protected abstract IConnectionTransport Transport { get; }

    public async ValueTask DisposeAsync()
    {
        GC.SuppressFinalize(this);
        if (_connection is not null)
        {
            await _connection.DisposeAsync();
        }

        await _server.DisposeAsync();
    }

    [Fact]
    public async Task SendAsync_AgainstKestrel_WholeRequestAndWantedHeaders()
    {
        await using var kestrel = await ProviderStandIn.StartAsync((_, _) => new Reply(429, "{}", RetryAfter: "30"));
        await using var connection = await OpenAsync(kestrel.Address);

        using var answer = await SendAsync(connection);

        Assert.Equal((429, SendFault.None, "30"), (answer.Status, answer.Fault, answer.RetryAfter));
        Assert.NotNull(HttpDate.Read(answer.Date));
        Assert.Equal("{}", Encoding.UTF8.GetString(answer.Body.Span));
        var request = Assert.Single(kestrel.Requests);
        Assert.Equal(("POST", "/3/device/abc", "HTTP/2"), (request.Method, request.Path, request.Protocol));
        Assert.Equal(kestrel.Address.Authority, request.Headers["host"]);
        Assert.Equal(("bearer x", "application/json"), (request.Headers["authorization"], request.Headers["content-type"]));
        Assert.Equal("<one-two>", request.Text);
    }

    [Fact]
    public async Task SendAsync_BodyOver64Kb_CutAndTheNextRequestStillAnswered()
    {
        await using var kestrel = await ProviderStandIn.StartAsync((_, n) => new Reply(200, n == 0 ? new string('x', 1024 * 1024) : "short"));
        await using var connection = await OpenAsync(kestrel.Address);

        using var huge = await SendAsync(connection);
        using var next = await SendAsync(connection);

        Assert.Equal(ProviderAnswer.MaxBodyBytes, huge.Body.Length);
        Assert.Equal("short", Encoding.UTF8.GetString(next.Body.Span));
        Assert.Single(kestrel.Requests.Select(request => request.Connection).Distinct());
    }

    [Fact]
    public async Task Settings_FirstAndLaterOnes_Told()
    {
        var send = await StartAsync(maxStreams: 1);
        await _peer!.AnswerAsync(await _peer.NextRequestAsync());
        Assert.Equal(200, (await send).Status);
        Assert.Equal([1], _observer.Limits);

        await _peer.WriteSettingsAsync(1000);
        await _peer.WriteSettingsAsync(0);

        await Waiting.UntilAsync(() => _observer.Limits.Length == 3);
        Assert.Equal([1, 1000, 0], _observer.Limits);
    }

    [Fact]
    public async Task Settings_WithoutALimit_ToldAsNone()
    {
        _ = await StartAsync(maxStreams: null);

        await Waiting.UntilAsync(() => _observer.Limits.Length == 1);
        Assert.Equal([long.MaxValue], _observer.Limits);
    }

    [Fact]
    public async Task Settings_NeverCome_NotSentAndNoRequestLeft()
    {
        var accept = _server.AcceptSilentAsync();
        _connection = await OpenAsync(_server.Address, TimeSpan.FromSeconds(0.3));
        var send = SendAsync(_connection);
        var peer = await accept;

        Assert.Equal((SendFault.NotSent, "no-settings"), await FaultAsync(send));
        await Waiting.UntilAsync(() => _observer.Ends == 1);
        Assert.DoesNotContain(RawHttp2Peer.Headers, await peer.ReadToEndAsync());
        Assert.Empty(_observer.Limits);
    }

    [Fact]
    public async Task Settings_ComeLate_RequestGoesThen()
    {
        var accept = _server.AcceptSilentAsync();
        _connection = await OpenAsync(_server.Address);
        var send = SendAsync(_connection);
        _peer = await accept;

        await _peer.StartAsync(maxStreams: 100);

        await _peer.AnswerAsync(await _peer.NextRequestAsync());
        Assert.Equal(200, (await send.WaitAsync(Sample.Limit)).Status);
    }

    [Fact]
    public async Task Settings_ObserverIsTold_NoRequestHasLeft()
    {
        using var told = new ManualResetEventSlim();
        _observer.OnLimit = () => told.Wait(Sample.Limit);
        var first = await StartAsync();
        await Waiting.UntilAsync(() => _observer.Limits.Length == 1);
        var second = SendAsync(_connection!);
        var request = _peer!.NextRequestAsync();
        await Task.Delay(200);
        Assert.False(request.IsCompleted);

        told.Set();
        await _peer.AnswerAsync(await request);
        await _peer.AnswerAsync(await _peer.NextRequestAsync());
        Assert.All(await Task.WhenAll(first, second).WaitAsync(Sample.Limit), static answer => Assert.Equal(200, answer.Status));
    }

    [Fact]
    public async Task GoAway_BelowTheLastStream_ThatOneIsAnsweredTheOtherIsSafe()
    {
        var first = await StartAsync();
        var stream = await _peer!.NextRequestAsync();
        var second = SendAsync(_connection!);
        await _peer.NextRequestAsync();

        await _peer.GoAwayAsync(stream, 0, """{"reason":"Shutdown"}""");
        await _peer.AnswerAsync(stream);

        Assert.Equal(200, (await first).Status);
        Assert.Contains((await second).Fault, new[] { SendFault.AboveLastStream, SendFault.NotSent });
        Assert.Equal([(0, """{"reason":"Shutdown"}""")], _observer.GoAways);
    }

    [Fact]
    public async Task GoAway_WithErrorInSmallPieces_CodeAndReasonTold()
    {
        _ = await StartAsync();
        await _peer!.NextRequestAsync();

        foreach (var one in (byte[])[0, 0, 11, RawHttp2Peer.GoAway, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 11, (byte)'t', (byte)'o', 7])
        {
            await _peer.WriteAsync([one]);
        }

        await Waiting.UntilAsync(() => _observer.GoAways.Length == 1);
        Assert.Equal([(11, "to?")], _observer.GoAways);
    }

    [Fact]
    public async Task Reset_RefusedStream_Safe()
    {
        var send = await StartAsync();
        for (var i = 0; !send.IsCompleted && i < 10; i++)
        {
            // A transport may try again by itself, a few times.
            var next = _peer!.NextRequestAsync();
            if (await Task.WhenAny(next, send) == next)
            {
                await _peer.ResetAsync(await next, 7);
            }
        }

        Assert.Equal(SendFault.Refused, (await send.WaitAsync(Sample.Limit)).Fault);
    }

    [Fact]
    public async Task Reset_InternalError_Ambiguous()
    {
        var send = await StartAsync();

        await _peer!.ResetAsync(await _peer.NextRequestAsync(), 2);

        Assert.Equal((SendFault.Ambiguous, "connection-lost"), await FaultAsync(send));
    }

    [Fact]
    public async Task PeerGone_UnderWay_AmbiguousAndEndToldOnce()
    {
        var send = await StartAsync();
        await _peer!.NextRequestAsync();

        await _peer.DisposeAsync();

        Assert.Equal((SendFault.Ambiguous, "connection-lost"), await FaultAsync(send));
        await Waiting.UntilAsync(() => _observer.Ends == 1);
    }

    [Fact]
    public async Task SendAsync_AfterTheEnd_NotSentAndNobodyDials()
    {
        var send = await StartAsync();
        await _peer!.NextRequestAsync();
        await _peer.DisposeAsync();
        await send;
        await Waiting.UntilAsync(() => _observer.Ends == 1);

        Assert.Equal(SendFault.NotSent, (await FaultAsync(SendAsync(_connection!))).Fault);
    }

    [Fact]
    public async Task DisposeAsync_UnderWay_AmbiguousAtOnce()
    {
        var send = await StartAsync();
        await _peer!.NextRequestAsync();

        await _connection!.DisposeAsync();

        Assert.Equal((SendFault.Ambiguous, "connection-lost"), await FaultAsync(send));
        Assert.Equal(SendFault.NotSent, (await FaultAsync(SendAsync(_connection))).Fault);
    }

    [Fact]
    public async Task Cancellation_StreamResetAndTheOthersGoOn()
    {
        var kept = await StartAsync();
        var first = await _peer!.NextRequestAsync();
        using var stop = new CancellationTokenSource();
        var dropped = SendAsync(_connection!, stop.Token);
        var second = await _peer.NextRequestAsync();

        await stop.CancelAsync();

        await Assert.ThrowsAnyAsync<OperationCanceledException>(() => dropped);
        var reset = await _peer.NextAsync(RawHttp2Peer.Reset);
        Assert.Equal(second, reset.Stream);
        await _peer.AnswerAsync(first);
        Assert.Equal(200, (await kept).Status);
    }

    [Fact]
    public async Task Garbage_InsteadOfFrames_AmbiguousAndEnded()
    {
        var send = await StartAsync();
        await _peer!.NextRequestAsync();

        await _peer.WriteAsync(Encoding.ASCII.GetBytes("HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n" + new string('x', 4096)));

        Assert.Equal(SendFault.Ambiguous, (await FaultAsync(send)).Fault);
        await Waiting.UntilAsync(() => _observer.Ends == 1);
    }

    private static async Task<(SendFault Fault, string? Reason)> FaultAsync(Task<ProviderAnswer> send)
    {
        using var answer = await send.WaitAsync(Sample.Limit);
        return (answer.Fault, answer.FaultReason);
    }

    /// <summary>Opens the connection and sends a first request over it, since some transports write their preface only then.</summary>
    private async Task<Task<ProviderAnswer>> StartAsync(uint? maxStreams = 100)
    {
        var accept = _server.AcceptAsync(maxStreams);
        _connection = await OpenAsync(_server.Address);
        var send = SendAsync(_connection);
        _peer = await accept;
        return send;
    }

    private async Task<IProviderConnection> OpenAsync(Uri address, TimeSpan? settingsWithin = null)
    {
        var dial = new ProviderDial(address, TestServices.For(address, TimeProvider.System).Trust, TimeProvider.System);
        var dialled = await dial.ConnectAsync(CancellationToken.None).WaitAsync(Sample.Limit);
        Assert.Null(dialled.Fault);
        return Transport.Open(dialled.Stream!, new ConnectionOptions { Origin = address, SettingsWithin = settingsWithin ?? Sample.Limit }, _observer);
    }

    private static Task<ProviderAnswer> SendAsync(IProviderConnection connection, CancellationToken cancellationToken = default)
    {
        var headers = default(HeaderList);
        headers.Add(HeaderName.Authorization, "bearer x");
        headers.Add(HeaderName.ContentType, "application/json");
        var request = new ProviderRequest
        {
            PathPrefix = "/3/device/",
            PathEnd = "abc",
            Headers = headers,
            Body = new SplicedBody("<"u8.ToArray(), "-"u8.ToArray(), ">"u8.ToArray()),
            FirstGap = "one",
            SecondGap = "two",
        };
        return connection.SendAsync(request, cancellationToken).AsTask();
    }

    private sealed class Observer : IConnectionObserver
    {
        private readonly Lock _lock = new();
        private readonly List<long> _limits = [];
        private readonly List<(long, string?)> _goAways = [];
        private int _ends;

        public long[] Limits
        {
            get
            {
                lock (_lock)
                {
                    return [.. _limits];
                }
            }
        }

        public (long Code, string? Reason)[] GoAways
        {
            get
            {
                lock (_lock)
                {
                    return [.. _goAways];
                }
            }
        }

        public int Ends => Volatile.Read(ref _ends);

        /// <summary>What the reading path does once it has told a limit.</summary>
        public Action OnLimit { get; set; } = static () => { };

        public void StreamLimit(long streams)
        {
            lock (_lock)
            {
                _limits.Add(streams);
            }

            OnLimit();
        }

        public void GoingAway(long errorCode, string? reason)
        {
            lock (_lock)
            {
                _goAways.Add((errorCode, reason));
            }
        }

        public void Ended(long violation) => Interlocked.Increment(ref _ends);
    }
}

/// <summary>The framework's.</summary>
public sealed class FrameworkConnectionTests : ConnectionSpecification
{
    private protected override IConnectionTransport Transport { get; } = new FrameworkTransport(TimeProvider.System);
}
