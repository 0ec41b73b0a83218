using System.Buffers;
using System.IO.Pipelines;
using Microsoft.AspNetCore.Connections;
using Microsoft.AspNetCore.Http.Features;

namespace Pnh.Api.Bodies;

/// <summary>
/// A request's body as the endpoints read it. A sender who stalls is given up, in each window of time, while the server's own limit is a mean over the whole
/// body: who sent fast for long could stall for hours. Time in which nobody reads does not count. Blanks without end are refused, and so is a chunk that
/// cannot be one, which the server tells as a fault of its own. As <see cref="PipeReader"/> not thread-safe.
/// </summary>
internal sealed class WatchedBody : PipeReader, IRequestBodyPipeFeature, IDisposable
{
    /// <summary>How long a sender is waited for before its bytes are counted.</summary>
    internal static readonly TimeSpan Window = TimeSpan.FromSeconds(10);

    /// <summary>Bytes that must come in each window: 240 a second, as the server's own limit.</summary>
    internal const int WindowBytes = 2_400;

    /// <summary>Blanks in a row, as many as the largest event has bytes.</summary>
    internal const int MostBlanks = 64 * 1024;

    private static readonly TimeSpan Look = TimeSpan.FromSeconds(1);

    private readonly Lock _gate = new();
    private readonly PipeReader _inner;
    private readonly TimeProvider _time;
    private ITimer? _timer;
    private ReadOnlySequence<byte> _given;
    private TimeSpan _waited;
    private TimeSpan _windowFrom;
    private long _arrived;
    private long _left;
    private long _blanks;
    private long _waitingSince;
    private bool _isStalled;

    /// <param name="inner">The server's.</param>
    /// <param name="time">Time.</param>
    public WatchedBody(PipeReader inner, TimeProvider time)
    {
        _inner = inner;
        _time = time;
    }

    /// <inheritdoc/>
    public PipeReader Reader => this;

    /// <summary>Middleware behind what turns exceptions into problems.</summary>
    public static Func<RequestDelegate, RequestDelegate> Watch(TimeProvider time) => next => context =>
    {
        if (context.Features.Get<IHttpRequestBodyDetectionFeature>() is { CanHaveBody: true })
        {
            var body = new WatchedBody(InflatedBody.ReaderOf(context.Request), time);
            context.Features.Set<IRequestBodyPipeFeature>(body);
            context.Response.RegisterForDispose(body);
        }

        return next(context);
    };

    /// <inheritdoc/>
    public override bool TryRead(out ReadResult result)
    {
        if (!_inner.TryRead(out result))
        {
            return false;
        }

        Note(result);
        return true;
    }

    /// <inheritdoc/>
    public override async ValueTask<ReadResult> ReadAsync(CancellationToken cancellationToken = default)
    {
        if (_blanks > MostBlanks)
        {
            throw new BadHttpRequestException("The body has too many blanks in a row.", StatusCodes.Status413PayloadTooLarge);
        }

        try
        {
            var reading = _inner.ReadAsync(cancellationToken);
            var result = reading.IsCompleted ? await reading : await WaitAsync(reading);
            Note(result);
            return result;
        }
        catch (IOException fault) when (fault is not (BadHttpRequestException or ConnectionResetException))
        {
            throw new BadHttpRequestException(fault.Message, StatusCodes.Status400BadRequest, fault); // a chunk size from 80000000
        }
        catch (InvalidDataException fault)
        {
            throw new BadHttpRequestException("The body is no gzip.", StatusCodes.Status400BadRequest, fault);
        }
    }

    /// <inheritdoc/>
    public override void AdvanceTo(SequencePosition consumed) => AdvanceTo(consumed, consumed);

    /// <inheritdoc/>
    public override void AdvanceTo(SequencePosition consumed, SequencePosition examined)
    {
        var used = _given.Slice(0, consumed);
        _left = _given.Length - used.Length;
        CountBlanks(used);
        _given = default;
        _inner.AdvanceTo(consumed, examined);
    }

    /// <inheritdoc/>
    public override void CancelPendingRead() => _inner.CancelPendingRead();

    /// <inheritdoc/>
    public override void Complete(Exception? exception = null) => _inner.Complete(exception);

    /// <inheritdoc/>
    public override ValueTask CompleteAsync(Exception? exception = null) => _inner.CompleteAsync(exception);

    public void Dispose() => _timer?.Dispose();

    private async ValueTask<ReadResult> WaitAsync(ValueTask<ReadResult> reading)
    {
        _timer ??= _time.CreateTimer(static body => ((WatchedBody)body!).LookForBytes(), this, Look, Look);
        var began = _time.GetTimestamp();
        lock (_gate)
        {
            _waitingSince = Math.Max(began, 1); // 0 = nobody waits
        }

        try
        {
            return await reading;
        }
        finally
        {
            lock (_gate)
            {
                _waitingSince = 0;
                _waited += _time.GetElapsedTime(began);
            }
        }
    }

    private void Note(in ReadResult result)
    {
        _given = result.Buffer;
        lock (_gate)
        {
            _arrived += result.Buffer.Length - _left;
            _left = result.Buffer.Length;
            EndWindow(_waited);
            if (!_isStalled || result.IsCompleted)
            {
                return;
            }
        }

        _inner.AdvanceTo(result.Buffer.End);
        throw new BadHttpRequestException("The body came too slowly.", StatusCodes.Status408RequestTimeout);
    }

    // By the timer. Nothing arrives while a read waits, so what has arrived in the window is settled.
    private void LookForBytes()
    {
        lock (_gate)
        {
            if (_waitingSince == 0)
            {
                return;
            }

            EndWindow(_waited + _time.GetElapsedTime(_waitingSince));
            if (!_isStalled)
            {
                return;
            }
        }

        CancelSafely();
    }

    private void EndWindow(TimeSpan waited)
    {
        if (waited - _windowFrom >= Window)
        {
            _isStalled |= _arrived < WindowBytes;
            _windowFrom = waited;
            _arrived = 0;
        }
    }

    private void CancelSafely()
    {
        try
        {
            _inner.CancelPendingRead();
        }
        catch (Exception gone) when (gone is OperationCanceledException or IOException or InvalidOperationException)
        {
            // Its sender went before.
        }
    }

    // Of the last run only its end counts; mostly the last byte belongs to no run.
    private void CountBlanks(in ReadOnlySequence<byte> used)
    {
        foreach (var piece in used)
        {
            var last = piece.Span.LastIndexOfAnyExcept(" \t\r\n"u8);
            _blanks = last < 0 ? _blanks + piece.Length : piece.Length - last - 1;
        }
    }
}
