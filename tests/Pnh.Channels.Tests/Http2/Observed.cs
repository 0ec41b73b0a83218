using System.Threading.Channels;
using Pnh.Channels.Net.Http;

namespace Pnh.Channels.Tests.Http2;

/// <summary>What a connection told its owner, in order: <c>streams 100</c>, <c>going-away 0 …</c>, <c>ended</c>.</summary>
internal sealed class Observed : IConnectionObserver
{
    private readonly Channel<string> _told = Channel.CreateUnbounded<string>();

    public async Task<string> NextAsync()
    {
        using var patience = new CancellationTokenSource(Http2Peer.Patience);
        return await _told.Reader.ReadAsync(patience.Token);
    }

    public void StreamLimit(long streams) => _told.Writer.TryWrite(streams == long.MaxValue ? "streams unlimited" : $"streams {streams}");

    public void GoingAway(long errorCode, string? reason) => _told.Writer.TryWrite($"going-away {errorCode} {reason}");

    public void Ended(long violation) => _told.Writer.TryWrite(violation == 0 ? "ended" : $"ended {violation}");
}
