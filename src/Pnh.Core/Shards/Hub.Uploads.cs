using Pnh.Core.Events;

namespace Pnh.Core.Shards;

/// <summary>What comes many at a time, from senders that can wait.</summary>
public sealed partial class Hub
{
    /// <summary>Most events that an upload shall bring to <see cref="AcceptManyAsync"/> at once, for now.</summary>
    public int UploadBatch => _context.Lanes.Pace.Batch;

    /// <summary>
    /// For whoever can wait, such as the reader of a long upload, whose sender then waits too: completes when the hub is neither overloaded nor has
    /// thousands of bulk pushes waiting, or when <paramref name="patience"/> with an overload is over. Synchronous when there is nothing to wait for.
    /// </summary>
    public async ValueTask WaitForRoomAsync(TimeSpan patience, CancellationToken cancellationToken)
    {
        await Shedder.WaitAsync(patience, cancellationToken).ConfigureAwait(false);
        await _context.Lanes.Pace.WaitForRoomAsync(cancellationToken).ConfigureAwait(false);
    }

    /// <summary>
    /// Takes several events of one app as <see cref="AcceptAsync"/> takes one, with one flush of the journal for all that arrived together. They are
    /// dispatched in their order, so a user's events keep theirs. None is refused for want of CPU or of a place: call it after
    /// <see cref="WaitForRoomAsync"/>, and it waits until the uploads before it have left room.
    /// </summary>
    /// <param name="events">What is taken.</param>
    /// <param name="cancellationToken">Ends the wait; then nothing is taken. Once they are inside they all are.</param>
    public async ValueTask<AcceptResult[]> AcceptManyAsync(IReadOnlyList<Event> events, CancellationToken cancellationToken = default)
    {
        if (events.Count == 0)
        {
            return [];
        }

        // None when the hub stops: then each is answered so.
        var batch = await _admission.Uploads.EnterAsync(events, cancellationToken).ConfigureAwait(false);
        try
        {
            if (batch?.Entered is not null)
            {
                // What it waited for may stand in the lanes now.
                await _context.Lanes.Pace.WaitForRoomAsync(cancellationToken).ConfigureAwait(false);
            }

            return await AcceptInOrderAsync(events, hasWaited: batch?.Entered is not null).ConfigureAwait(false);
        }
        finally
        {
            if (batch is not null)
            {
                _admission.Uploads.Leave(batch);
            }
        }
    }

    private async ValueTask<AcceptResult[]> AcceptInOrderAsync(IReadOnlyList<Event> events, bool hasWaited)
    {
        var entries = new Entry[events.Count];
        for (var i = 0; i < entries.Length; i++)
        {
            entries[i] = Enter(events[i], isAdmitted: true, new Admission.Place(null, events[i].Class, hasWaited));
        }

        var results = new AcceptResult[entries.Length];
        for (var i = 0; i < entries.Length; i++)
        {
            results[i] = await FinishAsync(events[i], entries[i]).ConfigureAwait(false);
        }

        return results;
    }
}
