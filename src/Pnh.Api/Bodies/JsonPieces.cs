using System.IO.Pipelines;
using System.Text.Json;

namespace Pnh.Api.Bodies;

/// <summary>Sends one long JSON answer in pieces of some 16 kB, so that it is never held whole. One per answer; not thread-safe.</summary>
internal struct JsonPieces(Utf8JsonWriter json, PipeWriter output)
{
    private const int PieceBytes = 16 * 1024;
    private long _flushed;

    // Over a buffer writer the pending bytes alone never say: the writer commits them whenever its buffer is full.
    private readonly long Written => json.BytesCommitted + json.BytesPending;

    /// <summary>Sends what is written once it is a piece. Call between two elements.</summary>
    public ValueTask FlushWhenDueAsync(CancellationToken cancellationToken)
    {
        if (Written - _flushed <= PieceBytes)
        {
            return ValueTask.CompletedTask;
        }

        _flushed = Written;
        return FlushAsync(json, output, cancellationToken);
    }

    private static async ValueTask FlushAsync(Utf8JsonWriter json, PipeWriter output, CancellationToken cancellationToken)
    {
        await json.FlushAsync(cancellationToken);
        await output.FlushAsync(cancellationToken);
    }
}
