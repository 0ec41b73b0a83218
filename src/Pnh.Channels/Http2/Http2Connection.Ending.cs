namespace Pnh.Channels.Http2;

/// <summary>Why a connection ended.</summary>
/// <param name="Code">What we told the peer; NoError = an ordinary end, or the transport's.</param>
/// <param name="Reason">In kebab-case.</param>
/// <param name="Fault">What the stream threw; null = nothing.</param>
internal sealed record Http2Closure(Http2ErrorCode Code, string Reason, Exception? Fault = null);

/// <summary>How a connection stops: draining, then over.</summary>
internal sealed partial class Http2Connection
{
    private Http2GoAway? _goAway;
    private Http2Closure? _closure;
    private bool _draining;
    private bool _ended;

    /// <summary>The peer's GOAWAY; null = none came.</summary>
    public Http2GoAway? GoAway => Volatile.Read(ref _goAway);

    /// <summary>Why it ended; null = it has not.</summary>
    public Http2Closure? Closure => Volatile.Read(ref _closure);

    /// <summary>False once it drains or has ended: every further request is answered <see cref="Http2Outcome.NotSent"/>.</summary>
    public bool IsAccepting => !Volatile.Read(ref _draining) && !Volatile.Read(ref _ended);

    /// <summary>Takes no more requests and ends with the last that it has.</summary>
    public void Drain()
    {
        lock (_sync)
        {
            _draining = true;
        }

        Flush();
        _watcher?.Draining(this);
    }

    /// <summary>Ends it now: requests that were sent end as <see cref="Http2Outcome.ConnectionLost"/>, the others as not sent.</summary>
    public async ValueTask DisposeAsync()
    {
        End(Http2ErrorCode.NoError, "disposed");
        await _closed.Task;
    }

    private async Task RunAsync()
    {
        var reading = Task.Run(ReadGuardedAsync);
        try
        {
            await WriteAsync();
        }
        catch (Exception exception)
        {
            End(Http2ErrorCode.NoError, "write-failed", exception);
        }

        await DisposeStreamAsync();
        await reading;
        _closed.TrySetResult();
        _watcher?.Closed(this);
    }

    /// <summary>Whatever happens in the loop ends the connection: a request must never wait for a loop that is gone.</summary>
    private async Task ReadGuardedAsync()
    {
        try
        {
            await ReadAsync();
        }
        catch (Exception exception)
        {
            End(Http2ErrorCode.NoError, "read-failed", exception);
        }
    }

    private async Task DisposeStreamAsync()
    {
        try
        {
            await _stream.DisposeAsync();
        }
        catch (Exception exception) when (exception is IOException or ObjectDisposedException or InvalidOperationException)
        {
            // The connection is over; how its end went interests nobody.
        }
    }

    private void End(Http2ErrorCode code, string reason, Exception? fault = null)
    {
        bool stuck;
        lock (_sync)
        {
            if (_ended)
            {
                return;
            }

            _ended = true;
            _closure = new Http2Closure(code, reason, fault);
            EndWaiting();
            EndUnderWay(0, Http2Outcome.ConnectionLost);
            _control.AppendGoAway(code);
            stuck = _writing;
        }

        if (stuck)
        {
            // A write is under way, and it may be one that the peer never lets finish.
            _stream.Dispose();
        }

        _ping?.TrySetResult(false);
        Flush();
    }

    /// <summary>Under the lock.</summary>
    private void StopAccepting()
    {
        _draining = true;
        EndWaiting();
    }

    private void EndWaiting()
    {
        while (_streams.FirstWaiting is { } exchange)
        {
            Finish(exchange, Http2Outcome.NotSent);
        }
    }

    /// <summary>Under the lock: ends the requests on streams above <paramref name="lastStream"/>.</summary>
    private void EndUnderWay(int lastStream, Http2Outcome outcome)
    {
        for (var exchange = _streams.FirstUnderWay; exchange is not null;)
        {
            var next = exchange.Next;
            if (exchange.Stream > lastStream)
            {
                Finish(exchange, outcome);
            }

            exchange = next;
        }
    }

    private void EndWhenDrained()
    {
        bool drained;
        lock (_sync)
        {
            drained = _draining && !_ended && _streams.Waiting == 0 && _streams.UnderWay == 0;
        }

        if (drained)
        {
            End(Http2ErrorCode.NoError, "drained");
        }
    }
}
