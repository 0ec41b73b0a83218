using System.Buffers;
using System.Net;
using System.Net.Http.Headers;
using System.Text;

namespace Pnh.Channels.Http;

/// <summary>
/// A JSON body made of parts that all deliveries of an event share and small ASCII texts that differ (address, TTL). Joined in a pooled
/// buffer only while it is written, in one write (each write is a DATA frame), and as often as the handler resends it.
/// </summary>
internal sealed class SplicedContent : HttpContent
{
    // Shared and never changed.
    private static readonly MediaTypeHeaderValue Json = new("application/json");

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
        Headers.ContentType = Json;
    }

    protected override bool TryComputeLength(out long length)
    {
        length = _body.Length + _first.Length + _second.Length;
        return true;
    }

    protected override Task SerializeToStreamAsync(Stream stream, TransportContext? context) =>
        SerializeToStreamAsync(stream, context, CancellationToken.None);

    protected override async Task SerializeToStreamAsync(Stream stream, TransportContext? context, CancellationToken cancellationToken)
    {
        var length = _body.Length + _first.Length + _second.Length;
        var buffer = ArrayPool<byte>.Shared.Rent(length);
        try
        {
            Join(buffer);
            await stream.WriteAsync(buffer.AsMemory(0, length), cancellationToken);
        }
        finally
        {
            ArrayPool<byte>.Shared.Return(buffer);
        }
    }

    private void Join(Span<byte> buffer)
    {
        _body.Head.CopyTo(buffer);
        buffer = buffer[_body.Head.Length..];
        buffer = buffer[Encoding.ASCII.GetBytes(_first, buffer)..];
        _body.Middle.CopyTo(buffer);
        buffer = buffer[_body.Middle.Length..];
        buffer = buffer[Encoding.ASCII.GetBytes(_second, buffer)..];
        _body.Tail.CopyTo(buffer);
    }
}

/// <summary>The shared parts of a spliced body: head, gap, middle, gap, tail.</summary>
internal sealed record SplicedBody(byte[] Head, byte[] Middle, byte[] Tail)
{
    public int Length => Head.Length + Middle.Length + Tail.Length;
}
