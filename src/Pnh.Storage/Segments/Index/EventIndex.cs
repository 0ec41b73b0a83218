using Pnh.Core.Events;
using Pnh.Core.Journal;

namespace Pnh.Storage.Segments.Index;

/// <summary>
/// Where every event stands, and which users had it withdrawn. Changes come from one thread and can be taken back until
/// <see cref="Keep"/>; reads may come from any. 256 tables, so that growing one never holds a commit for more than some milliseconds.
/// </summary>
internal sealed class EventIndex
{
    private const int Tables = 256;

    private readonly IndexTable[] _tables = new IndexTable[Tables];

    // Of (event's root, user), and of those once more that were erased; for the changing thread alone. 64 keyed bits: two of 100 million are equal once in 4,000 journals.
    private readonly HashSet<ulong>[] _withdrawn = new HashSet<ulong>[Tables];
    private readonly List<Change> _changes = [];

    // While the log is read.
    private PendingMail? _pending = new();

    public EventIndex()
    {
        for (var i = 0; i < Tables; i++)
        {
            _tables[i] = new IndexTable();
            _withdrawn[i] = [];
        }
    }

    public EventIdHash Hash { get; } = new();

    /// <summary>What rests for which device. Its changes are kept and taken back with those of the index.</summary>
    public MailTable Mail { get; } = new();

    public long Count
    {
        get
        {
            var count = 0L;
            foreach (var table in _tables)
            {
                count += table.Count;
            }

            return count;
        }
    }

    /// <summary>A look for this hash is about to follow, after some for others. For the changing thread; changes nothing.</summary>
    public void Prefetch(ulong hash) => TableOf(hash).Prefetch(hash);

    /// <summary>The <paramref name="nth"/> event with this hash.</summary>
    public bool TryFind(ulong hash, int nth, out IndexEntry entry) => TableOf(hash).TryFind(hash, nth, out entry);

    /// <summary>The event with this hash. False = there is none (then it is empty), or more than one.</summary>
    public bool TryFindOnly(ulong hash, out IndexEntry entry) => TableOf(hash).TryFindOnly(hash, out entry);

    /// <summary>The event with this hash that stands there.</summary>
    public bool TryFind(ulong hash, long root, out IndexEntry entry)
    {
        for (var nth = 0; TryFind(hash, nth, out entry); nth++)
        {
            if (entry.Root == root)
            {
                return true;
            }
        }

        return false;
    }

    public void Add(in IndexEntry entry)
    {
        TableOf(entry.Hash).Add(entry);
        _changes.Add(new Change(default, entry, 0));
    }

    public void Replace(in IndexEntry old, in IndexEntry entry)
    {
        // First what may need memory: without it nothing has changed.
        _changes.Add(new Change(old, entry, 0));
        TableOf(entry.Hash).Replace(old.Root, entry);
    }

    /// <summary>For good: not taken back by <see cref="Rollback"/>.</summary>
    public void Remove(in IndexEntry entry) => TableOf(entry.Hash).Remove(entry.Hash, entry.Root);

    public bool IsWithdrawn(long root, string? user) =>
        Contains(Hash.Of(root, null)) || (user is not null && Contains(Hash.Of(root, user)));

    /// <summary>Whether the user was erased, who may have had the event withdrawn before for another reason.</summary>
    public bool IsErased(long root, string user) => Contains(Hash.OfErased(root, user));

    /// <summary>The milestone is a withdrawal of the event there.</summary>
    public void Withdraw(long root, in Milestone withdrawal)
    {
        Add(Hash.Of(root, withdrawal.User));
        if (withdrawal.IsErasure)
        {
            Add(Hash.OfErased(root, withdrawal.User!));
        }
    }

    /// <summary>For good: the event's record is going.</summary>
    public void ForgetWithdrawal(long root, string? user)
    {
        Forget(Hash.Of(root, user));
        if (user is not null)
        {
            Forget(Hash.OfErased(root, user));
        }
    }

    /// <summary>The changes stand: their records are on stable storage.</summary>
    public void Keep()
    {
        _changes.Clear();
        Mail.Keep();
        _pending?.Keep();
    }

    /// <summary>Takes back every change since the last <see cref="Keep"/>.</summary>
    public void Rollback()
    {
        for (var i = _changes.Count - 1; i >= 0; i--)
        {
            var (old, entry, withdrawal) = _changes[i];
            if (withdrawal != 0)
            {
                Forget(withdrawal);
            }
            else if (old.IsEmpty)
            {
                Remove(entry);
            }
            else
            {
                TableOf(old.Hash).Replace(entry.Root, old);
            }
        }

        _changes.Clear();
        Mail.TakeBack();
        _pending?.TakeBack();
    }

    /// <summary>The entry after this milestone of its event: what rests is known, and what rests no more.</summary>
    public IndexEntry Noted(in IndexEntry entry, in Milestone milestone)
    {
        if (milestone.Kind == MilestoneKind.Rested && milestone.Device is null)
        {
            return entry.Rested();
        }

        if (milestone.Kind == MilestoneKind.Rested)
        {
            var rests = Hash.Of(milestone.App, milestone.User!, milestone.Device!);
            _pending?.Rested(milestone, isNew: !Mail.Has(rests, entry.Hash));
            Mail.Add(rests, entry.Hash, MailTable.SecondsOf(milestone.NextAttemptAt!.Value), milestone.CollapseKey is { } key ? KeyOf(new Collapse(milestone.Class, key)) : 0);
            return entry.WithMail();
        }

        if (entry.HasMail && milestone is { User: { } user, Device: { } device } && milestone.EndsRest)
        {
            var rested = Hash.Of(milestone.App, user, device);
            _pending?.Ended(milestone, isKnown: Mail.Has(rested, entry.Hash));
            Mail.Remove(rested, entry.Hash);
        }

        return entry;
    }

    /// <summary>What stands for it in <see cref="Mail"/>; never 0.</summary>
    public uint KeyOf(in Collapse of) => (uint)Hash.Of(of.Class.Label(), of.Key) | 1;

    /// <summary>How many deliveries rest without an end, as the log that was read has them; once.</summary>
    public IReadOnlyDictionary<(string App, EventClass Class), int> TakePending()
    {
        var counts = _pending!.Counts;
        _pending = null;
        return counts;
    }

    /// <summary>All unfinished events of which something is under way, oldest first: carried ones are older than what stayed.</summary>
    public List<IndexEntry> Open()
    {
        var open = new List<IndexEntry>();
        foreach (var table in _tables)
        {
            table.CopyOpen(open);
        }

        open.Sort(static (a, b) => a.IsCarried != b.IsCarried ? b.IsCarried.CompareTo(a.IsCarried) : a.Root.CompareTo(b.Root));
        return open;
    }

    private void Add(ulong withdrawal)
    {
        if (_withdrawn[withdrawal >> 56].Add(withdrawal))
        {
            _changes.Add(new Change(default, default, withdrawal));
        }
    }

    private void Forget(ulong withdrawal) => _withdrawn[withdrawal >> 56].Remove(withdrawal);

    private bool Contains(ulong hash) => _withdrawn[hash >> 56].Contains(hash);

    private IndexTable TableOf(ulong hash) => _tables[hash >> 56];

    private readonly record struct Change(IndexEntry Old, IndexEntry New, ulong Withdrawal);
}
