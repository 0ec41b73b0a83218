using System.Buffers;
using System.Net;

namespace Pnh.Channels.Net.Http;

/// <summary>
/// A spliced body for the framework's handler. Joined in a pooled buffer only while it is written, in one write (each write is a DATA frame), and
/// as often as the handler resends it.
/// </summary>
internal sealed class SplicedContent : HttpContent
{
    private readonly SplicedBody _body;
    private readonly string _first;
    private readonly string _second;

    /// <param name="body">The shared parts.</param>
    /// <param name="first">ASCII, already safe inside a JSON string.</param>
    /// <param name="second">Likewise; empty when the body has one gap only.</param>
    public SplicedContent(SplicedBody body, string first, string second)
    {
        _body = body;
        _first = first;
        _second = second;
    }

    /// <summary>Told when it is written; null = nobody asks.</summary>
    public RequestProgress? Progress { get; init; }

    protected override bool TryComputeLength(out long length)
    {
        length = _body.Length + _first.Length + _second.Length;
        return true;
    }

    protected override Task SerializeToStreamAsync(Stream stream, TransportContext? context) =>
        SerializeToStreamAsync(stream, context, CancellationToken.None);

    protected override Task SerializeToStreamAsync(Stream stream, TransportContext? context, CancellationToken cancellationToken)
    {
        Progress?.Begin();
        return _body.Length == _body.Head.Length && _first.Length + _second.Length == 0
            ? stream.WriteAsync(_body.Head, cancellationToken).AsTask()
            : SpliceAsync(stream, cancellationToken);
    }

    private async Task SpliceAsync(Stream stream, CancellationToken cancellationToken)
    {
        var length = _body.Length + _first.Length + _second.Length;
        var buffer = ArrayPool<byte>.Shared.Rent(length);
        try
        {
            _body.CopyTo(buffer, _first, _second);
            await stream.WriteAsync(buffer.AsMemory(0, length), cancellationToken);
        }
        finally
        {
            ArrayPool<byte>.Shared.Return(buffer);
        }
    }
}
