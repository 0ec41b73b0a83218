using Pnh.Channels.Net.Http;
using Pnh.Channels.Net.Http2;
using Pnh.Channels.Provider.Connections;
using Pnh.Channels.Tests.Http.Wire;

namespace Pnh.Channels.Tests.Http.Pool;

/// <summary>What a peer makes the log say: a line per connection and cause, however often it says so.</summary>
public sealed class ConnectionLogTests : IAsyncDisposable
{
    private readonly RawHttp2Server _server = new();
    private readonly LogLines _log = new();
    private ConnectionPool? _pool;

    public async ValueTask DisposeAsync()
    {
        await _pool!.DisposeAsync();
        await _server.DisposeAsync();
        _log.Dispose();
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task GoAway_AgainAndAgain_OneLinePerCause(bool direct)
    {
        var (peer, stream, send) = await StartAsync(direct);
        for (uint i = 0; i < 8; i++)
        {
            await peer.GoAwayAsync(stream, i % 2, "calm\u0007");
        }

        await peer.AnswerAsync(stream);

        using var answer = await send.WaitAsync(Sample.Limit);
        Assert.Equal(200, answer.Status);
        Assert.Single(_log.Of("GoAway"));
        Assert.Equal("calm?", Assert.Single(_log.Of("GoAwayError")).Split(": ")[^1]);
    }

    [Fact]
    public async Task GoAway_WithoutAReason_TheLineSaysSo()
    {
        var (peer, stream, send) = await StartAsync(direct: true);
        await peer.GoAwayAsync(stream, 0, "");
        await peer.AnswerAsync(stream);

        using var answer = await send.WaitAsync(Sample.Limit);
        Assert.EndsWith(": it gave no reason", Assert.Single(_log.Of("GoAway")), StringComparison.Ordinal);
    }

    [Fact]
    public async Task GoAway_MoreThanTheConnectionBears_EndedByUsWithALine()
    {
        var (peer, stream, send) = await StartAsync(direct: true);
        for (var i = 0; i < 9; i++)
        {
            await peer.GoAwayAsync(stream, 0);
        }

        using var answer = await send.WaitAsync(Sample.Limit);
        Assert.Equal(SendFault.Ambiguous, answer.Fault);
        await _pool!.DisposeAsync();
        Assert.Single(_log.Of("GoAway"));
        Assert.EndsWith("HTTP/2 error 11.", Assert.Single(_log.Of("ProtocolBroken")), StringComparison.Ordinal);
    }

    private async Task<(RawHttp2Peer Peer, int Stream, Task<ProviderAnswer> Send)> StartAsync(bool direct)
    {
        var transports = new ConnectionTransports(new DirectTransport(TimeProvider.System), _ => direct, TimeProvider.System);
        _pool = new ConnectionPool(
            new PoolOptions
            {
                Origin = _server.Address,
                MaxConnections = 1,
                MaxInFlight = 10,
                Lifetime = TimeSpan.FromHours(1),
                IdleTimeout = TimeSpan.FromHours(1),
                StallAfter = TimeSpan.FromHours(1),
            },
            TestServices.For(_server.Address, TimeProvider.System, transports) with { Loggers = _log });
        var accept = _server.AcceptAsync();
        var place = await _pool.EnterAsync(CancellationToken.None).AsTask().WaitAsync(Sample.Limit);
        var send = place.Connection!.SendAsync(
            new ProviderRequest { PathPrefix = "/", PathEnd = "x", Headers = default, Body = SplicedBody.Empty }, CancellationToken.None).AsTask();
        var peer = await accept;
        return (peer, await peer.NextRequestAsync(), send);
    }
}
