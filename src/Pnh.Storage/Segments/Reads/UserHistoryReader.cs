using System.Text;
using Pnh.Core.Journal;
using Pnh.Storage.Segments.Format;

namespace Pnh.Storage.Segments.Reads;

/// <summary>
/// Puts together what an event's history says of one user. A short history is walked; of a long one is kept where each user stands in it, so that the next who
/// asks reads what is new and their own. Stable storage only; thread-safe, one long history at a time.
/// </summary>
internal sealed class UserHistoryReader : IDisposable
{
    /// <summary>So many milestones are walked each time: some 0.5 ms.</summary>
    internal const int Short = 512;

    /// <summary>So many milestones are known at once at most, of a few events: 12 MB, and 30 for each user of them.</summary>
    internal const int MostKept = 1 << 20;

    private readonly SegmentSet _segments;
    private readonly HistoryReader _whole;
    private readonly SemaphoreSlim _gate = new(1);

    // Least recently asked first. Locked for a look; what is in it belongs to who holds the gate.
    private readonly List<UserMilestones> _kept = [];

    public UserHistoryReader(SegmentSet segments, HistoryReader whole) => (_segments, _whole) = (segments, whole);

    public void Dispose() => _gate.Dispose();

    /// <summary>The event with the user's milestones up to <paramref name="head"/>, oldest first; null = removed meanwhile.</summary>
    public async ValueTask<EventHistory?> ReadAsync(long root, long head, string user)
    {
        if (_whole.Event(root) is not { } stored)
        {
            return null;
        }

        var name = Encoding.UTF8.GetBytes(user);
        List<Milestone>? milestones = null;
        if (Known(root) is not null || !TryWalk(root, head, name, out milestones))
        {
            await _gate.WaitAsync().ConfigureAwait(false);
            try
            {
                milestones = Find(root, head, name);
            }
            finally
            {
                _gate.Release();
            }
        }

        milestones ??= _whole.Milestones(root, head)?.FindAll(m => string.Equals(m.User, user, StringComparison.Ordinal));
        return milestones is null ? null : new EventHistory(stored, milestones);
    }

    /// <summary>Whether the event rests for the user's device, as its milestones up to <paramref name="head"/> say; null = removed meanwhile.</summary>
    public async ValueTask<DeviceRest?> ReadRestAsync(long root, long head, string user, string device)
    {
        var rest = new DeviceRest(device);
        if (TryWalk(root, head, Encoding.UTF8.GetBytes(user), rest))
        {
            return rest;
        }

        if (await ReadAsync(root, head, user).ConfigureAwait(false) is not { } history)
        {
            return null;
        }

        rest = new DeviceRest(device);
        for (var i = history.Milestones.Count - 1; i >= 0; i--)
        {
            rest.Take(history.Milestones[i]);
        }

        return rest;
    }

    // False when the newest milestones do not say, as they are too many, or a link of the chain is missing.
    private bool TryWalk(long root, long head, ReadOnlySpan<byte> user, DeviceRest rest)
    {
        using var reader = new RecordReader(_segments);
        var chain = new MilestoneChain(reader, root, head, after: root);
        for (var walked = 0; !rest.IsKnown && chain.MoveNext(); walked++)
        {
            if (walked == Short)
            {
                return false;
            }

            if (DeviceRest.Concerns(Payload.KindOf(chain.Current)) && Payload.UserOf(chain.Current).SequenceEqual(user))
            {
                rest.Take(Payload.Milestone(chain.Current));
            }
        }

        return !chain.IsBroken;
    }

    /// <summary>False when the history is long. Null = a link of the chain is missing.</summary>
    private bool TryWalk(long root, long head, ReadOnlySpan<byte> user, out List<Milestone>? found)
    {
        found = [];
        using var reader = new RecordReader(_segments);
        var chain = new MilestoneChain(reader, root, head, after: root);
        for (var walked = 0; chain.MoveNext(); walked++)
        {
            if (walked == Short)
            {
                return false;
            }

            if (Payload.UserOf(chain.Current).SequenceEqual(user))
            {
                found.Add(Payload.Milestone(chain.Current));
            }
        }

        found.Reverse();
        found = chain.IsBroken ? null : found;
        return true;
    }

    private List<Milestone>? Find(long root, long head, ReadOnlySpan<byte> user)
    {
        var known = Known(root) ?? new UserMilestones(root);
        using var reader = new RecordReader(_segments);
        if (!TryLearn(reader, known, head))
        {
            return null;
        }

        Keep(known);
        var found = new List<Milestone>();
        foreach (var position in known.Of(UserMilestones.HashOf(user)))
        {
            if (!MilestoneChain.TryRead(reader, root, position, out var record))
            {
                return null;
            }

            if (position <= head && Payload.UserOf(record).SequenceEqual(user))
            {
                found.Add(Payload.Milestone(record));
            }
        }

        found.Reverse();
        return found;
    }

    private static bool TryLearn(RecordReader reader, UserMilestones known, long head)
    {
        var fresh = new List<(long Position, int User)>();
        var chain = new MilestoneChain(reader, known.Root, head, after: known.Head);
        while (chain.MoveNext())
        {
            fresh.Add((chain.Position, UserMilestones.HashOf(Payload.UserOf(chain.Current))));
        }

        if (chain.IsBroken)
        {
            return false;
        }

        known.Add(fresh);
        return true;
    }

    private UserMilestones? Known(long root)
    {
        lock (_kept)
        {
            return _kept.Find(k => k.Root == root);
        }
    }

    private void Keep(UserMilestones known)
    {
        lock (_kept)
        {
            _kept.Remove(known);
            _kept.Add(known);
            while (_kept.Count > 1 && _kept.Sum(k => k.Count) > MostKept)
            {
                _kept.RemoveAt(0);
            }
        }
    }
}
