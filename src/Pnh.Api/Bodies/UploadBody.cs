using System.IO.Pipelines;
using Pnh.Api.Access;
using Pnh.Api.Problems;

namespace Pnh.Api.Bodies;

/// <summary>
/// The body of an upload of any length: read until it ends, its sender goes or loses the key, or the hub stops. A sender who never ends held the stop for
/// the whole 30 s that it may take, and would publish for ever with a key that is revoked. Not thread-safe.
/// </summary>
internal sealed class UploadBody : IDisposable
{
    private readonly PipeReader _reader;
    private readonly Caller? _sender;
    private readonly CancellationToken _aborted;
    private readonly CancellationToken _stopping;
    private readonly CancellationTokenRegistration _stop;
    private CancellationTokenSource? _ending;

    internal UploadBody(HttpContext context, CancellationToken stopping)
        : this(context.Request.BodyReader, Caller.Of(context), context.RequestAborted, stopping)
    {
    }

    /// <param name="reader">Where the body comes from; the caller's.</param>
    /// <param name="sender">Whose key may be revoked meanwhile; null = nothing is taken of what is read here.</param>
    /// <param name="aborted">Its sender went.</param>
    /// <param name="stopping">The hub's stop.</param>
    internal UploadBody(PipeReader reader, Caller? sender, CancellationToken aborted, CancellationToken stopping)
    {
        _reader = reader;
        _sender = sender;
        _aborted = aborted;
        _stopping = stopping;

        // Not as the read's token: a body of known length that is cancelled so counts as being read for ever, the server then cannot pass over the rest, and
        // resets the connection before the last line has arrived.
        _stop = stopping.UnsafeRegister(static reader => Interrupt((PipeReader)reader!), reader);
    }

    /// <summary>True once nothing more shall be taken.</summary>
    internal bool IsStopping => _stopping.IsCancellationRequested;

    /// <summary>Cancelled when the sender goes or the hub stops.</summary>
    internal CancellationToken Ending => (_ending ??= CancellationTokenSource.CreateLinkedTokenSource(_aborted, _stopping)).Token;

    /// <summary>What has arrived; null = <see cref="Left"/>, and what else arrives is the sender's to send again.</summary>
    internal async ValueTask<ReadResult?> ReadAsync()
    {
        if (IsStopping)
        {
            return null;
        }

        var read = await _reader.ReadAsync(_aborted);
        if ((!read.IsCanceled || !IsStopping) && _sender is not { IsRevoked: true })
        {
            return read;
        }

        _reader.AdvanceTo(read.Buffer.End);
        return null;
    }

    /// <summary>Why the rest was not taken, from <paramref name="next"/> on; null = nothing was in its way.</summary>
    internal Problem? Left(long next) =>
        _sender is { IsRevoked: true } ? NdjsonAnswer.Revoked(next)
        : IsStopping ? NdjsonAnswer.Stopped(next) : null;

    /// <summary>As <see cref="PipeReader.AdvanceTo(SequencePosition, SequencePosition)"/>.</summary>
    internal void AdvanceTo(SequencePosition consumed, SequencePosition examined) => _reader.AdvanceTo(consumed, examined);

    public void Dispose()
    {
        _stop.Dispose();
        _ending?.Dispose();
    }

    private static void Interrupt(PipeReader reader)
    {
        try
        {
            reader.CancelPendingRead();
        }
        catch (Exception gone) when (gone is OperationCanceledException or IOException or InvalidOperationException)
        {
            // Its sender went before, which ends a read as well. The stop goes on to the next.
        }
    }
}
