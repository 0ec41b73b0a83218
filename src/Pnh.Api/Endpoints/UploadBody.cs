using System.IO.Pipelines;

namespace Pnh.Api.Endpoints;

/// <summary>
/// The body of an upload of any length: read until it ends, its sender goes, or the hub stops. A sender who never ends held the stop for the whole
/// 30 s that it may take. Not thread-safe.
/// </summary>
internal sealed class UploadBody : IDisposable
{
    private readonly PipeReader _reader;
    private readonly CancellationToken _stopping;
    private readonly CancellationTokenSource _ending;

    internal UploadBody(HttpContext context, CancellationToken stopping)
    {
        _reader = context.Request.BodyReader;
        _stopping = stopping;
        _ending = CancellationTokenSource.CreateLinkedTokenSource(context.RequestAborted, stopping);
    }

    /// <summary>True once nothing more shall be taken.</summary>
    internal bool IsStopping => _stopping.IsCancellationRequested;

    /// <summary>Cancelled when the sender goes or the hub stops.</summary>
    internal CancellationToken Ending => _ending.Token;

    /// <summary>What has arrived; null = the hub stops, and what else arrives is the sender's to send again.</summary>
    internal async ValueTask<ReadResult?> ReadAsync()
    {
        if (IsStopping)
        {
            return null;
        }

        try
        {
            return await _reader.ReadAsync(Ending);
        }
        catch (OperationCanceledException) when (IsStopping)
        {
            return null;
        }
    }

    /// <summary>As <see cref="PipeReader.AdvanceTo(SequencePosition, SequencePosition)"/>.</summary>
    internal void AdvanceTo(SequencePosition consumed, SequencePosition examined) => _reader.AdvanceTo(consumed, examined);

    public void Dispose() => _ending.Dispose();
}
