using Pnh.Core.Journal;
using Pnh.Storage.Segments.Format;
using Pnh.Storage.Segments.Index;

namespace Pnh.Storage.Segments;

/// <summary>What nobody waits for. Holds ids, not the event, so that bodies can go.</summary>
internal readonly struct Note(RecordKind kind, in Milestone milestone)
{
    /// <summary>What.</summary>
    public readonly Milestone Milestone = milestone;

    /// <summary><see cref="RecordKind.Milestone"/>, <see cref="RecordKind.Finished"/> (app and event alone) or <see cref="RecordKind.Address"/>.</summary>
    public readonly RecordKind Kind = kind;
}

/// <summary>
/// The hashes of the events of a batch of notes, a block at a time, so that the index's lines of a block are fetched together: one after the other, each look was a miss of the
/// processor's cache. For the writer's thread.
/// </summary>
internal sealed class NoteHashes(EventIndex index)
{
    private const int Block = 32;

    private readonly ulong[] _hashes = new ulong[Block];
    private int _from;
    private int _to;

    /// <summary>Another batch.</summary>
    public void Begin() => (_from, _to) = (0, 0);

    /// <summary>Of the note at that place of the batch; places only go up.</summary>
    public ulong Of(ReadOnlySpan<Note> batch, int at)
    {
        if (at >= _to)
        {
            Take(batch, at);
        }

        return _hashes[at - _from];
    }

    private void Take(ReadOnlySpan<Note> batch, int from)
    {
        (_from, _to) = (from, Math.Min(from + Block, batch.Length));
        for (var at = from; at < _to; at++)
        {
            ref readonly var note = ref batch[at];
            if (note.Kind == RecordKind.Address)
            {
                continue; // of no event
            }

            if (at > from && IsOfOne(note.Milestone, batch[at - 1].Milestone))
            {
                _hashes[at - from] = _hashes[at - 1 - from];
                continue;
            }

            var hash = _hashes[at - from] = index.Hash.Of(note.Milestone.App, note.Milestone.Event);
            index.Prefetch(hash);
        }
    }

    // By reference: notes of a fan-out share their texts.
    private static bool IsOfOne(in Milestone one, in Milestone other) => ReferenceEquals(one.Event, other.Event) && ReferenceEquals(one.App, other.App);
}
