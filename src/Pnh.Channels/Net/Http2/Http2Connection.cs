using System.Collections.Concurrent;
using Pnh.Channels.Net.Http;

namespace Pnh.Channels.Net.Http2;

/// <summary>
/// The client side of one HTTP/2 connection (RFC 9113) for small POSTs, over a stream that the caller dialled. Requests that are ready together
/// leave in one write; a request allocates nothing once its like has been sent. Thread-safe. Callers' continuations run on the pool, never on
/// the thread that reads; requests they send at once leave together when the last of them returns.
/// </summary>
internal sealed partial class Http2Connection : IProviderConnection, IThreadPoolWorkItem
{
    /// <summary>Completions after which the requests made meanwhile are let go.</summary>
    private const int CorkedCompletions = 128;

    [ThreadStatic]
    private static Http2Connection? _corked;

    private readonly Lock _sync = new();
    private readonly ConcurrentQueue<Http2Exchange> _completed = new();
    private readonly WakeUp _wake = new();
    private readonly Stream _stream;
    private readonly ConnectionOptions _options;
    private readonly IConnectionObserver _observer;
    private readonly TimeProvider _time;
    private readonly Http2Limits _limits;
    private readonly Http2Streams _streams;

    // Frames of our own besides requests; the writer sends them first. Under the lock.
    private readonly FrameBuffer _control = new(512);

    private Http2Connection(Stream stream, ConnectionOptions options, IConnectionObserver observer, TimeProvider time, Http2Limits limits)
    {
        _stream = stream;
        _options = options;
        _observer = observer;
        _time = time;
        _limits = limits;
        _streams = new Http2Streams(limits);
        _writer = new RequestWriter(_out, options.Origin);
        _decoder = new HpackDecoder(DecoderTableBytes, limits.MaxHeaderListBytes);
        _lastReceived = time.GetTimestamp();
    }

    /// <summary>Begins to speak. The stream is the connection's from now on.</summary>
    public static Http2Connection Start(
        Stream stream, ConnectionOptions options, IConnectionObserver observer, TimeProvider time, Http2Limits limits)
    {
        var connection = new Http2Connection(stream, options, observer, time, limits);

        // The loops live as long as the connection: what the first caller has in its context must not.
        using (ExecutionContext.SuppressFlow())
        {
            connection.StartKeepAlive();
            _ = Task.Run(connection.RunAsync);
        }

        return connection;
    }

    public ValueTask<ProviderAnswer> SendAsync(in ProviderRequest request, CancellationToken cancellationToken)
    {
        if (cancellationToken.IsCancellationRequested)
        {
            return ValueTask.FromCanceled<ProviderAnswer>(cancellationToken);
        }

        Http2Exchange exchange;
        bool wake;
        lock (_sync)
        {
            if (_ended || _draining)
            {
                return ValueTask.FromResult(ProviderAnswer.Failed(SendFault.NotSent, "connection-closed"));
            }

            if (_streams.Waiting >= _limits.MaxWaiting)
            {
                return ValueTask.FromResult(ProviderAnswer.Failed(SendFault.NotSent, "connection-busy"));
            }

            exchange = _streams.Rent(this);
            exchange.Begin(request);
            _streams.Wait(exchange);
            wake = _streams.CanStart;
        }

        if (cancellationToken.CanBeCanceled)
        {
            exchange.CancelWith(cancellationToken);
        }

        var task = exchange.Task;
        if (wake && !ReferenceEquals(_corked, this))
        {
            _wake.Set(inline: false);
        }

        return task;
    }

    /// <summary>Runs the continuations of requests that have ended.</summary>
    void IThreadPoolWorkItem.Execute() => RunCompleted();

    private void RunCompleted()
    {
        var outer = _corked;
        _corked = this;
        var count = 0;
        while (_completed.TryDequeue(out var exchange))
        {
            exchange.Complete();
            if (++count % CorkedCompletions == 0)
            {
                _wake.Set(inline: false);
            }
        }

        _corked = outer;
        if (WantsToWrite())
        {
            _wake.Set(inline: true);
        }
    }

    internal void Recycle(Http2Exchange exchange)
    {
        lock (_sync)
        {
            _streams.Return(exchange);
        }
    }

    internal void Cancel(Http2Exchange exchange)
    {
        lock (_sync)
        {
            // Before the end: once it is in the queue of the completed it may be the caller's.
            exchange.IsCanceled |= HasNotEnded(exchange);
            Finish(exchange, SendFault.Ambiguous, "canceled", Http2ErrorCode.Cancel);
        }

        Flush();
    }

    /// <summary>
    /// Under the lock: the request's end, unless it has ended. While the writer reads it the end waits until the writer is done, since the
    /// caller may use its memory again from then on.
    /// </summary>
    private void Finish(Http2Exchange exchange, SendFault fault, string? reason, Http2ErrorCode reset = Http2ErrorCode.NoError)
    {
        if (!HasNotEnded(exchange))
        {
            return;
        }

        exchange.Fault = fault;
        exchange.FaultReason = reason;
        exchange.Reset = reset;
        if (exchange.State == ExchangeState.Writing)
        {
            exchange.IsEndPending = true;
        }
        else
        {
            Complete(exchange);
        }
    }

    private static bool HasNotEnded(Http2Exchange exchange) => exchange.State != ExchangeState.Done && !exchange.IsEndPending;

    private void Complete(Http2Exchange exchange)
    {
        if (!exchange.IsSent)
        {
            // Whatever ended it, the peer never saw it.
            exchange.Fault = SendFault.NotSent;
        }
        else if (exchange.Reset != Http2ErrorCode.NoError && !_ended)
        {
            _control.AppendFrame(FrameType.ResetStream, exchange.Stream, (uint)exchange.Reset);
        }

        _streams.Remove(exchange);
        _completed.Enqueue(exchange);
    }

    /// <summary>After a change, outside the lock: lets callers and the writer know.</summary>
    private void Flush()
    {
        EndWhenDrained();
        var completed = !_completed.IsEmpty;
        if (completed)
        {
            ThreadPool.UnsafeQueueUserWorkItem(this, preferLocal: true);
        }

        lock (_sync)
        {
            // The continuations' requests go first into the same write; what they do not bring about must not wait for them.
            if (_control.Length == 0 && !_ended && (completed || (!_streams.CanStart && !_streams.CanGoOn)))
            {
                return;
            }
        }

        _wake.Set(inline: false);
    }

    /// <summary>
    /// The same for the reader, which runs the callers' continuations and the write of what they send itself: handing them to another thread of the
    /// pool costs more than they do. The next read is under way meanwhile.
    /// </summary>
    private void FlushInline()
    {
        EndWhenDrained();
        RunCompleted();
    }

    private bool WantsToWrite()
    {
        lock (_sync)
        {
            return _control.Length > 0 || _streams.CanStart || _streams.CanGoOn;
        }
    }
}
