using System.Threading.Channels;

namespace Pnh.Client.Sockets;

/// <summary>
/// What comes, and how far it was handled, over all connections of a session: calls one after the other, beside them all other events one after the other, each in its order, and what is no event beside both. Thread-safe.
/// </summary>
internal sealed class SessionEvents(PnhSessionOptions options)
{
    private const int Attempts = 3;
    private static readonly TimeSpan Pause = TimeSpan.FromSeconds(1);
    private readonly Lock _gate = new();
    private readonly Lane _calls = new();
    private readonly Lane _others = new();
    private readonly Lane _news = new(); // what was withdrawn or missed
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

    /// <summary>An event, a withdrawal, or what was missed.</summary>
    public void Take(HubFrame frame)
    {
        lock (_gate)
        {
            if (frame.Seq is { } seq)
            {
                _waiting[seq] = frame;
                _highest = Math.Max(_highest, seq);
            }

            if (frame.Type == "withdraw")
            {
                Forget(frame.Id!);
            }

            LaneOf(frame).Add(frame, _connection);
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

    /// <summary>Handles what comes until it is cancelled.</summary>
    /// <param name="begun">Hears of each event before its handler.</param>
    /// <param name="done">Hears of each afterwards, and whether nothing waits.</param>
    /// <param name="cancellationToken">The end.</param>
    public Task RunAsync(Func<HubFrame, ValueTask> begun, Func<bool, ValueTask> done, CancellationToken cancellationToken) => Task.WhenAll(
        RunAsync(_calls, begun, done, cancellationToken), RunAsync(_others, begun, done, cancellationToken), RunAsync(_news, begun, done, cancellationToken));

    private Lane LaneOf(HubFrame frame) => frame.Type != "event" ? _news : frame.Class == "call" ? _calls : _others;

    // An event that waits and is taken back is never shown. Under the gate.
    private void Forget(string id)
    {
        foreach (var (seq, waiting) in _waiting.Where(one => one.Value.Type == "event" && one.Value.Id == id).ToList())
        {
            if (LaneOf(waiting).Current != waiting)
            {
                _waiting.Remove(seq);
                _handled.Add(id, waiting.OnceFor);
            }
        }
    }

    private async Task RunAsync(Lane lane, Func<HubFrame, ValueTask> begun, Func<bool, ValueTask> done, CancellationToken cancellationToken)
    {
        try
        {
            await foreach (var (frame, connection) in lane.ReadAllAsync(cancellationToken).ConfigureAwait(false))
            {
                if (!TryBegin(lane, frame, connection, out var isKnown))
                {
                    continue; // it comes again
                }

                if (!isKnown)
                {
                    await HandleAsync(frame, begun, cancellationToken).ConfigureAwait(false);
                }

                await done(End(lane, frame)).ConfigureAwait(false);
            }
        }
        catch (OperationCanceledException) when (cancellationToken.IsCancellationRequested)
        {
            // The session ends.
        }
    }

    private bool TryBegin(Lane lane, HubFrame frame, int connection, out bool isKnown)
    {
        lock (_gate)
        {
            isKnown = frame.OnceId is { } id && _handled.Has(id);
            var isOurs = frame.Seq is null || connection == _connection;
            lane.Current = isOurs ? frame : null;
            return isOurs;
        }
    }

    // True when nothing waits.
    private bool End(Lane lane, HubFrame frame)
    {
        lock (_gate)
        {
            lane.Current = null;
            if (frame.OnceId is { } id)
            {
                _handled.Add(id, frame.OnceFor);
            }

            if (frame.Seq is { } seq && ReferenceEquals(_waiting.GetValueOrDefault(seq), frame))
            {
                _waiting.Remove(seq);
            }

            return _calls.IsEmpty && _others.IsEmpty;
        }
    }

    private async ValueTask HandleAsync(HubFrame frame, Func<HubFrame, ValueTask> begun, CancellationToken cancellationToken)
    {
        if (frame.Type == "withdraw")
        {
            await options.TellAsync(options.OnWithdraw, new PnhWithdrawal(frame.Id!, frame.Reason ?? ""), cancellationToken).ConfigureAwait(false);
            return;
        }

        if (frame.Type == "missed")
        {
            await options.TellAsync(options.OnMissed, new PnhMissed(frame.Count ?? 0, DateTimeOffset.FromUnixTimeMilliseconds(frame.Since ?? 0)), cancellationToken).ConfigureAwait(false);
            return;
        }

        await begun(frame).ConfigureAwait(false);
        var message = frame.ToMessage();

        // A handler that fails is called again, after a pause.
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

    // Events that wait for their turn. Its own queue is unbounded: the hub sends 256 at most before it wants acks.
    private sealed class Lane
    {
        private readonly Channel<(HubFrame Frame, int Connection)> _queue = Channel.CreateUnbounded<(HubFrame, int)>();

        public HubFrame? Current { get; set; }

        public bool IsEmpty => !_queue.Reader.TryPeek(out _);

        public void Add(HubFrame frame, int connection) => _queue.Writer.TryWrite((frame, connection));

        public IAsyncEnumerable<(HubFrame Frame, int Connection)> ReadAllAsync(CancellationToken cancellationToken) => _queue.Reader.ReadAllAsync(cancellationToken);
    }
}
