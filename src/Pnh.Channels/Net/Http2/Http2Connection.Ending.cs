using Pnh.Channels.Net.Http;

namespace Pnh.Channels.Net.Http2;

/// <summary>How a connection stops: draining, then over.</summary>
internal sealed partial class Http2Connection
{
    private const string NoSettings = "no-settings";

    private readonly TaskCompletionSource _closed = new(TaskCreationOptions.RunContinuationsAsynchronously);
    private Http2Closure? _closure;
    private ITimer? _giveUp;
    private bool _draining;
    private bool _ended;

    /// <summary>Why it ended; null = it has not.</summary>
    public Http2Closure? Closure => Volatile.Read(ref _closure);

    /// <summary>Ends it now: requests that were sent end as ambiguous, the others as not sent. Waits a second at most, for a peer that does not read.</summary>
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
        await _keepAlive.DisposeAsync();
        _giveUp?.Dispose();
        _observer.Ended((long)_closure!.Code);
        _closed.TrySetResult();
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
            EndUnderWay(0, SendFault.Ambiguous, ProviderAnswer.ConnectionLost);
            _control.AppendGoAway(code);
            stuck = _writing;
        }

        if (stuck)
        {
            // A write is under way; it may be one that the peer never lets finish.
            _giveUp = _time.CreateTimer(static stream => ((Stream)stream!).Dispose(), _stream, GoAwayLimit, Timeout.InfiniteTimeSpan);
        }

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
            Finish(exchange, SendFault.NotSent, _settled ? "connection-closed" : NoSettings);
        }
    }

    /// <summary>Under the lock: ends the requests on streams above <paramref name="lastStream"/>.</summary>
    private void EndUnderWay(int lastStream, SendFault fault, string reason)
    {
        for (var exchange = _streams.FirstUnderWay; exchange is not null;)
        {
            var next = exchange.Next;
            if (exchange.Stream > lastStream)
            {
                Finish(exchange, fault, reason);
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
