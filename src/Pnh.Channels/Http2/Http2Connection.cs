using System.Collections.Concurrent;

namespace Pnh.Channels.Http2;

/// <summary>
/// The client side of one HTTP/2 connection (RFC 9113) for small POSTs, over a stream that the caller dialled. Requests that are ready together
/// leave in one write; a request allocates nothing once its like has been sent. Thread-safe. Callers' continuations run on the pool, never on
/// the thread that reads; requests they send at once leave together when the last of them returns.
/// </summary>
internal sealed partial class Http2Connection : IAsyncDisposable, IThreadPoolWorkItem
{
    /// <summary>Completions after which the requests made meanwhile are let go.</summary>
    private const int CorkedCompletions = 128;

    [ThreadStatic]
    private static Http2Connection? t_corked;

    private readonly Lock _sync = new();
    private readonly ConcurrentQueue<Http2Exchange> _completed = new();
    private readonly WakeUp _wake = new();
    private readonly Stream _stream;
    private readonly Http2Options _options;
    private readonly TimeProvider _time;
    private readonly IHttp2Watcher? _watcher;
    private readonly Http2Streams _streams;

    // Frames of our own besides requests; the writer sends them first. Under the lock.
    private readonly FrameBuffer _control = new(512);
    private readonly TaskCompletionSource _closed = new(TaskCreationOptions.RunContinuationsAsynchronously);

    private Http2Connection(Stream stream, Http2Options options, TimeProvider time, IHttp2Watcher? watcher)
    {
        _stream = stream;
        _options = options;
        _time = time;
        _watcher = watcher;
        _streams = new Http2Streams(options);
        _streamLimit = _streams.Limit;
        _writer = new RequestWriter(_out, options);
        _decoder = new HpackDecoder(DecoderTableBytes, options.MaxHeaderListBytes);
        _lastReceived = time.GetTimestamp();
    }

    /// <summary>Streams at once: ours or the peer's limit, whichever is smaller; 0 = the peer takes none for now.</summary>
    public int StreamLimit => Volatile.Read(ref _streamLimit);

    /// <summary>Timestamp (of the time provider) of the last bytes from the peer, or of the start.</summary>
    public long LastReceived => Volatile.Read(ref _lastReceived);

    /// <summary>Completes, never faulted, when the connection is over and all its requests have ended.</summary>
    public Task Closed => _closed.Task;

    /// <summary>Requests that wait or are under way.</summary>
    public int InFlight
    {
        get
        {
            lock (_sync)
            {
                return _streams.Waiting + _streams.UnderWay;
            }
        }
    }

    /// <summary>Timestamp of the oldest request that has not ended; null = none. With <see cref="LastReceived"/> it tells a stalled connection.</summary>
    public long? OldestOutstanding
    {
        get
        {
            lock (_sync)
            {
                return _streams.Oldest?.Since;
            }
        }
    }

    /// <summary>Begins to speak. The stream is the connection's from now on.</summary>
    public static Http2Connection Start(Stream stream, Http2Options options, TimeProvider time, IHttp2Watcher? watcher = null)
    {
        var connection = new Http2Connection(stream, options, time, watcher);

        // The loops live as long as the connection: what the first caller has in its context must not.
        using (ExecutionContext.SuppressFlow())
        {
            _ = Task.Run(connection.RunAsync);
        }

        return connection;
    }

    /// <summary>
    /// Sends one request. Every end is a value, also the caller's cancellation; throws only for a request that is no request. The answer must be
    /// disposed, the task awaited once.
    /// </summary>
    public ValueTask<Http2Answer> SendAsync(in Http2Request request, CancellationToken cancellationToken)
    {
        request.Check();
        if (cancellationToken.IsCancellationRequested)
        {
            return ValueTask.FromResult(new Http2Answer(Http2Outcome.Canceled));
        }

        var now = _time.GetTimestamp();
        Http2Exchange exchange;
        bool wake;
        lock (_sync)
        {
            if (!IsAccepting || _streams.Waiting >= _options.MaxQueued)
            {
                return ValueTask.FromResult(new Http2Answer(Http2Outcome.NotSent));
            }

            exchange = _streams.Rent(this);
            exchange.Begin(request, now);
            _streams.Wait(exchange);
            wake = _streams.CanStart;
        }

        if (cancellationToken.CanBeCanceled)
        {
            exchange.CancelWith(cancellationToken);
        }

        var task = exchange.Task;
        if (wake && !ReferenceEquals(t_corked, this))
        {
            _wake.Set(inline: false);
        }

        return task;
    }

    /// <summary>Ends every request older than that as <see cref="Http2Outcome.TimedOut"/>: one timer per lane serves all its requests. Returns how many.</summary>
    public int CancelOlderThan(TimeSpan age)
    {
        var ended = 0;
        lock (_sync)
        {
            var now = _time.GetTimestamp();
            while (_streams.Oldest is { EndPending: false } oldest && _time.GetElapsedTime(oldest.Since, now) > age)
            {
                Finish(oldest, Http2Outcome.TimedOut, reset: Http2ErrorCode.Cancel);
                ended++;
                if (oldest.EndPending)
                {
                    // The writer has it in hand, and those after it came later: they are the next call's.
                    break;
                }
            }
        }

        Flush();
        return ended;
    }

    /// <summary>Runs the continuations of requests that have ended.</summary>
    void IThreadPoolWorkItem.Execute()
    {
        var outer = t_corked;
        t_corked = this;
        var count = 0;
        while (_completed.TryDequeue(out var exchange))
        {
            exchange.Complete();
            if (++count % CorkedCompletions == 0)
            {
                _wake.Set(inline: false);
            }
        }

        t_corked = outer;
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
            Finish(exchange, Http2Outcome.Canceled, reset: Http2ErrorCode.Cancel);
        }

        Flush();
    }

    /// <summary>
    /// Under the lock: the request's end, unless it has ended. While the writer reads it the end waits until the writer is done, since the caller
    /// may use its memory again from then on.
    /// </summary>
    private void Finish(
        Http2Exchange exchange, Http2Outcome outcome, Http2ErrorCode error = Http2ErrorCode.NoError, Http2ErrorCode reset = Http2ErrorCode.NoError)
    {
        if (exchange.State == ExchangeState.Done || exchange.EndPending)
        {
            return;
        }

        exchange.Outcome = outcome;
        exchange.ErrorCode = error;
        exchange.Reset = reset;
        if (exchange.State == ExchangeState.Writing)
        {
            exchange.EndPending = true;
            return;
        }

        Complete(exchange);
    }

    private void Complete(Http2Exchange exchange)
    {
        if (exchange.Reset != Http2ErrorCode.NoError && exchange.Sent && !_ended)
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

    private bool WantsToWrite()
    {
        lock (_sync)
        {
            return _control.Length > 0 || _streams.CanStart || _streams.CanGoOn;
        }
    }
}
