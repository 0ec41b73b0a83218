using Pnh.Core.Events;

namespace Pnh.Core.Hubs;

/// <summary>What comes many at a time, from senders that can wait.</summary>
public sealed partial class EventAcceptor
{
    /// <summary>Most events that an upload shall bring to <see cref="AcceptManyAsync"/> at once, for now.</summary>
    public int UploadBatch => _context.Lanes.Pace.Batch;

    /// <summary>
    /// For a caller that can wait, such as the reader of a long upload, whose sender then waits too: completes when the hub is neither overloaded nor has
    /// thousands of bulk pushes waiting, or when <paramref name="patience"/> with an overload is over. Synchronous when there is nothing to wait for: then false.
    /// </summary>
    public async ValueTask<bool> WaitForRoomAsync(TimeSpan patience, CancellationToken cancellationToken)
    {
        var calm = _gate.Limit.WaitAsync(patience, cancellationToken);
        var hasWaited = !calm.IsCompleted;
        await calm.ConfigureAwait(false);
        var room = _context.Lanes.Pace.WaitForRoomAsync(cancellationToken);
        hasWaited |= !room.IsCompleted;
        await room.ConfigureAwait(false);
        return hasWaited;
    }

    /// <summary>
    /// Takes several events of one app as <see cref="AcceptAsync"/> takes one, with one flush of the journal for all that arrived together. They are
    /// dispatched in their order, so a user's events keep theirs. None is refused for want of CPU or of a place: call it after
    /// <see cref="WaitForRoomAsync"/>, and it waits until the uploads before it have left room.
    /// </summary>
    /// <param name="events">What is taken.</param>
    /// <param name="hasWaited">They were read before the wait for room: then they count as taken now. They do so after a wait in here too.</param>
    /// <param name="cancellationToken">Ends the wait; then nothing is taken. Once they are inside they all are.</param>
    public async ValueTask<AcceptResult[]> AcceptManyAsync(
        IReadOnlyList<Event> events, bool hasWaited = false, CancellationToken cancellationToken = default)
    {
        if (events.Count == 0)
        {
            return [];
        }

        for (var i = 0; i < events.Count && _dispatcher.FanOuts.Count > 0; i++)
        {
            hasWaited |= IsHeldBack(events[i]);
            await WaitForFanOutsAsync(events[i], TimeSpan.MaxValue, cancellationToken).ConfigureAwait(false);
        }

        // None when the hub stops: then each is answered so.
        var batch = await _gate.Uploads.EnterAsync(events, cancellationToken).ConfigureAwait(false);
        try
        {
            if (batch?.Entered is not null)
            {
                // What it waited for may stand in the lanes now.
                await _context.Lanes.Pace.WaitForRoomAsync(cancellationToken).ConfigureAwait(false);
                hasWaited = true;
            }

            return await AcceptInOrderAsync(hasWaited ? TakenNow(events) : events).ConfigureAwait(false);
        }
        finally
        {
            if (batch is not null)
            {
                _gate.Uploads.Leave(batch);
            }
        }
    }

    // How long the door was closed is not their age, no more than that of the lines behind them, which nobody had read by then. Nothing was made of them yet.
    // A tick apart (100 ns, less than it takes to accept one): a mailbox and a collapse key have their order from their times.
    private Event[] TakenNow(IReadOnlyList<Event> events)
    {
        var (now, timestamp) = (_time.GetUtcNow(), _time.GetTimestamp());
        var taken = new Event[events.Count];
        for (var i = 0; i < taken.Length; i++)
        {
            taken[i] = events[i].TakenAt(now.AddTicks(i + 1 - taken.Length), timestamp);
        }

        return taken;
    }

    private async ValueTask<AcceptResult[]> AcceptInOrderAsync(IReadOnlyList<Event> events)
    {
        var entries = new Entry[events.Count];
        for (var i = 0; i < entries.Length; i++)
        {
            entries[i] = Enter(events[i], place: default, isOfUpload: true);
        }

        var results = new AcceptResult[entries.Length];
        for (var i = 0; i < entries.Length; i++)
        {
            results[i] = await FinishAsync(events[i], entries[i]).ConfigureAwait(false);
        }

        return results;
    }
}
