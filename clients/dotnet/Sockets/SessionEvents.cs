using System.Threading.Channels;

namespace Pnh.Client.Sockets;

/// <summary>What comes, and how far it was handled: events one after the other, in their order, over all connections of a session. Thread-safe; one thread runs it.</summary>
internal sealed class SessionEvents(PnhSessionOptions options)
{
    private const int Attempts = 3;
    private static readonly TimeSpan Pause = TimeSpan.FromSeconds(1);
    private readonly Lock _gate = new();
    private readonly Channel<(HubFrame Frame, int Connection)> _queue = Channel.CreateUnbounded<(HubFrame, int)>(); // the hub sends 256 at most before it wants acks
    private readonly SortedDictionary<long, HubFrame> _waiting = []; // by seq: what came and is not handled
    private readonly HandledIds _handled = new(options.Time);
    private long _highest;
    private int _connection;

    /// <summary>Everything up to it was handled.</summary>
    public long Seq
    {
        get
        {
            lock (_gate)
            {
                return SeqNow;
            }
        }
    }

    private long SeqNow => _waiting.Count > 0 ? _waiting.Keys.First() - 1 : _highest;

    /// <summary>An event or a withdrawal.</summary>
    public void Take(HubFrame frame)
    {
        lock (_gate)
        {
            if (frame.Seq is { } seq)
            {
                _waiting[seq] = frame;
                _highest = Math.Max(_highest, seq);
            }

            _queue.Writer.TryWrite((frame, _connection));
        }
    }

    /// <summary>The connection is gone: what was not handled comes again, and what is being handled then is known.</summary>
    public void Cut()
    {
        lock (_gate)
        {
            _highest = SeqNow;
            _waiting.Clear();
            _connection++;
        }
    }

    /// <summary>The number after which a new session goes on.</summary>
    public void StartAt(long seq)
    {
        lock (_gate)
        {
            _waiting.Clear();
            _highest = seq;
        }
    }

    /// <summary>Handles what comes until it is cancelled. <paramref name="done"/> hears of each, and whether nothing waits behind it.</summary>
    public async Task RunAsync(Func<bool, ValueTask> done, CancellationToken cancellationToken)
    {
        try
        {
            await foreach (var (frame, connection) in _queue.Reader.ReadAllAsync(cancellationToken).ConfigureAwait(false))
            {
                if (frame.Seq is not null && connection != Volatile.Read(ref _connection))
                {
                    continue; // it comes again
                }

                await HandleAsync(frame, cancellationToken).ConfigureAwait(false);
                Handled(frame);
                await done(!_queue.Reader.TryPeek(out _)).ConfigureAwait(false);
            }
        }
        catch (OperationCanceledException) when (cancellationToken.IsCancellationRequested)
        {
            // The session ends.
        }
    }

    private void Handled(HubFrame frame)
    {
        lock (_gate)
        {
            if (frame.Seq is { } seq && ReferenceEquals(_waiting.GetValueOrDefault(seq), frame))
            {
                _waiting.Remove(seq);
            }
        }
    }

    private async ValueTask HandleAsync(HubFrame frame, CancellationToken cancellationToken)
    {
        if (frame.Type == "withdraw")
        {
            await options.WithdrawAsync(new PnhWithdrawal(frame.Id!, frame.Reason ?? ""), cancellationToken).ConfigureAwait(false);
        }
        else if (!_handled.Has(frame.Id!))
        {
            var message = frame.ToMessage();
            await GiveAsync(message, cancellationToken).ConfigureAwait(false);
            _handled.Add(message);
        }
    }

    // A handler that fails is called again, after a pause.
    private async ValueTask GiveAsync(PnhMessage message, CancellationToken cancellationToken)
    {
        for (var attempt = 1; ; attempt++)
        {
            try
            {
                await options.OnEvent(message, cancellationToken).ConfigureAwait(false);
                return;
            }
            catch (Exception fault) when (!cancellationToken.IsCancellationRequested)
            {
                options.Fail(fault);
                if (attempt == Attempts || message.Seq is null)
                {
                    return;
                }
            }

            await Task.Delay(Pause * attempt, options.Time, cancellationToken).ConfigureAwait(false);
        }
    }
}
