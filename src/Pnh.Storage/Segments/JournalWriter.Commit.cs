using System.Runtime.InteropServices;
using Pnh.Core.Journal;
using Pnh.Core.Stores;
using Pnh.Storage.Segments.Format;
using Pnh.Storage.Segments.Index;

namespace Pnh.Storage.Segments;

/// <summary>How a group is made and gets onto stable storage, and what becomes of its waiters when it does not.</summary>
internal sealed partial class JournalWriter
{
    // A sync of that takes 20 ms on an ordinary disk; more at once would only make the first of them wait.
    private const int GroupBytes = 4 * 1024 * 1024;

    private static readonly TimeSpan MarkEvery = TimeSpan.FromMilliseconds(500);

    /// <summary>Makes sure that the group, or a new one after it, takes that many bytes more.</summary>
    internal bool TryReserve(int bytes)
    {
        if (_fault is null && (Group.Length + bytes > Math.Max(GroupBytes, bytes) || Group.Length + bytes > _log.Segments.Last.Room))
        {
            Commit();
            Begin();
            if (_fault is null && bytes > _log.Segments.Last.Room)
            {
                Rotate(bytes);
            }
        }

        return _fault is null;
    }

    internal void Begin()
    {
        _notedId = null;
        _log.Begin(Group);
    }

    /// <summary>Writes and syncs the group, then tells who waits. After a fault everything up to the end of the batch fails with it.</summary>
    internal void Commit()
    {
        if (_fault is null && !Group.IsEmpty && !IsLost())
        {
            var started = _time.GetTimestamp();
            _fault = _log.Commit(Group, _sawTicks);
            if (_fault is null && !IsLost())
            {
                _isAsked = true;
                _options.OnSync?.Invoke(_time.GetElapsedTime(started));
            }
        }

        if (_fault is null)
        {
            Index.Keep();
            Users.Keep();
            Answers.Tell(CollectionsMarshal.AsSpan(_applied), null);
        }
        else
        {
            Rollback();
            Hold();
            Refuse(CollectionsMarshal.AsSpan(_applied));
        }

        _noted.Clear();
        _sawTicks = 0;
        _applied.Clear();
    }

    /// <summary>The same between batches, for what nobody waits for.</summary>
    internal bool TryCommit()
    {
        Commit();
        Begin();
        return _fault is null;
    }

    /// <summary>Nothing of the group shall be written.</summary>
    internal void TakeBack()
    {
        Rollback();
        Begin();
    }

    /// <summary>Whether another hub has the folder. What was synced before its number stood there, that hub reads; so nothing is answered after.</summary>
    private bool IsLost()
    {
        if (_options.IsLost?.Invoke() != true)
        {
            return false;
        }

        _log.Lose();
        _fault = _log.Damage;
        return true;
    }

    private void Rollback()
    {
        Index.Rollback();
        Users.TakeBack();
    }

    private void Rotate(int room = 0)
    {
        _fault = _log.Rotate(_time.GetUtcNow(), room);
        _refusal.LacksSegment = _fault is not null;
        Begin();
    }

    private void TryAgain()
    {
        if (_log.Damage is not null || !_refusal.IsDue())
        {
            return;
        }

        if (_refusal.LacksSegment || _log.Segments.Last.Room < Record.HeaderBytes)
        {
            Rotate();
        }
        else
        {
            Begin();
            Group.Seal();
            _fault = _log.Commit(Group, 0);
        }

        _refusal.Note(_fault, isWritten: true);
    }

    private void Apply(JournalWork work)
    {
        try
        {
            if (TryReserve(work.MostBytes))
            {
                _notedId = null;
                work.Apply(this);
                _applied.Add(work);
            }
            else
            {
                Refuse([work]);
            }
        }
        catch (StoreUnavailableException fault)
        {
            // A damaged record that it had to read, before it wrote anything.
            Answers.Tell([work], fault);
        }
    }

    /// <summary>Nothing can be written, and the index names only what was: who asks, or sends what stands already, has an answer all the same.</summary>
    private void Refuse(Span<JournalWork> works)
    {
        // First: a caller that has its answer asks next whether anything is taken.
        _refusal.Note(_fault, isWritten: false);
        var refused = 0;
        foreach (var work in works)
        {
            try
            {
                if (_log.IsBroken || !work.TryAnswer(this))
                {
                    works[refused++] = work;
                    continue;
                }

                Answers.Tell([work], null);
            }
            catch (StoreUnavailableException fault)
            {
                Answers.Tell([work], fault);
            }
        }

        Answers.Tell(works[..refused], _fault);
    }

    private void Apply(ReadOnlySpan<Note> notes, int at)
    {
        ref readonly var note = ref notes[at];
        ref readonly var milestone = ref note.Milestone;
        if (!TryReserve(Group.MostBytesOf(milestone)))
        {
            Hold(note);
            return;
        }

        if (note.Kind == RecordKind.Address)
        {
            Group.Milestone(milestone, RecordKind.Address, RecordFlags.None, 0, 0);
            Saw(milestone.At.UtcTicks);
        }
        else if (IsNoted(milestone) || TryFindQuietly(_hashes.Of(notes, at), milestone, out _notedEntry))
        {
            (_notedApp, _notedId) = (milestone.App, milestone.Event);
            _notedEntry = Write(note.Kind, _notedEntry, milestone);
        }
        else
        {
            // Nothing was accepted under this id, or it is gone: nobody will ask.
            _notedId = null;
            return;
        }

        _noted.Add(note);
    }

    private bool IsNoted(in Milestone milestone) => ReferenceEquals(_notedId, milestone.Event) && ReferenceEquals(_notedApp, milestone.App);

    private IndexEntry Write(RecordKind kind, in IndexEntry entry, in Milestone milestone)
    {
        if (kind == RecordKind.Milestone)
        {
            return Write(entry, milestone);
        }

        if (entry.IsFinished)
        {
            return entry;
        }

        Group.Finish(milestone.App, milestone.Event, entry.Root, entry.Head);
        Index.Replace(entry, entry.Finished());
        return entry.Finished();
    }

    private bool TryFindQuietly(ulong hash, in Milestone milestone, out IndexEntry entry)
    {
        try
        {
            return TryFind(hash, milestone.App, milestone.Event, out entry);
        }
        catch (StoreUnavailableException)
        {
            entry = default;
            return false;
        }
    }

    private void Hold()
    {
        foreach (var note in _noted)
        {
            Hold(note);
        }
    }

    private void Hold(in Note note)
    {
        if (_held.Count < JournalQueue.MostNotes)
        {
            _held.Add(note);
        }
        else
        {
            Queue.CountDropped();
        }
    }

    private void Tidy(bool isIdle)
    {
        _ = !_isAsked && _log.Damage is null && IsLost();
        TryAgain();
        _fault = _log.Damage;
        if (_fault is null)
        {
            Begin();
            if (_log.IsDueForRotation(_options.Retention, _time.GetUtcNow()))
            {
                // A quiet hub fills no segment, and would keep everything in its only one. A full disk has no room for another: then the oldest goes all the more.
                Rotate();
                _fault = _log.Damage;
            }

            _retirement.Run(isIdle);
        }

        Mark(isIdle);
    }

    /// <summary>At most a second of events may be missing after a crash without being missed. After the waiters were told: a sync of one block, in nobody's commit.</summary>
    private void Mark(bool isIdle)
    {
        if (_log.Damage is null && (isIdle || _time.GetElapsedTime(_markedAt) >= MarkEvery))
        {
            _ = _log.TryMark();
            _markedAt = _time.GetTimestamp();
        }
    }
}
