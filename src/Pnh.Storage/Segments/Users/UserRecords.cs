using System.Collections.Concurrent;
using Pnh.Core.Journal;
using Pnh.Storage.Segments.Format;
using Pnh.Storage.Segments.Index;

namespace Pnh.Storage.Segments.Users;

/// <summary>
/// The milestones of users in one segment, from a place on, in the order of the log. One thread adds, and says what stands; any thread finds what stands, without a lock.
/// </summary>
/// <param name="segment">Which.</param>
/// <param name="hash">Of users.</param>
/// <param name="from">What is before that offset is not in it.</param>
/// <param name="free">Chunks that others have used: new ones live so long that each collection of young objects would copy them, and all threads wait for it. Null = new ones.</param>
internal sealed class UserRecords(Segment segment, EventIdHash hash, int from, ConcurrentStack<UserRecord[]>? free = null)
{
    // 64 kB: what is added never moves, and no array is a large object.
    private const int Chunk = 4_096;
    private const int MostFree = 256;

    /// <summary>No user has that name.</summary>
    public const string Failures = "";

    private UserRecord[][] _chunks = new UserRecord[16][];
    private int _count;
    private int _kept;

    public Segment Segment => segment;

    public EventIdHash Hash => hash;

    public int From { get; } = from;

    /// <summary>Of one that is read from its segment: up to where.</summary>
    public int End { get; private set; } = from;

    /// <summary>How many stand.</summary>
    public int Count => Volatile.Read(ref _kept);

    public static uint KeyOf(ulong hash) => (uint)(hash >> 32);

    /// <summary>A milestone that is being written.</summary>
    public void Add(in UserRecord record)
    {
        var chunk = _count / Chunk;
        if (chunk == _chunks.Length)
        {
            var larger = new UserRecord[2 * chunk][];
            _chunks.CopyTo(larger, 0);
            Volatile.Write(ref _chunks, larger);
        }

        (_chunks[chunk] ??= free?.TryPop(out var used) == true ? used : new UserRecord[Chunk])[_count % Chunk] = record;
        _count++;
    }

    /// <summary>The same of a record as it stands in a segment; nothing for one that names no user.</summary>
    public void Add(in Record record, int offset, long root)
    {
        if (record.Kind == RecordKind.Milestone && MilestoneViews.IsOfUser(Payload.KindOf(record)) && Payload.UserOf(record) is { IsEmpty: false } user)
        {
            Payload.Key(record, out var app, out _);
            Add(new UserRecord(KeyOf(hash.Of(app, user)), offset, root));
            if (Payload.KindOf(record) == MilestoneKind.Settled && MilestoneViews.IsFailure(MilestoneKind.Settled, Payload.Milestone(record).State))
            {
                // Listed under no user's name, too.
                Add(new UserRecord(KeyOf(hash.Of(app, [])), offset, root));
            }
        }
    }

    /// <summary>What was added is on stable storage.</summary>
    public void Keep() => Volatile.Write(ref _kept, _count);

    /// <summary>The segment was read up to there.</summary>
    public void Keep(int end)
    {
        End = end;
        Keep();
    }

    /// <summary>It is not, and its places will be others'.</summary>
    public void TakeBack() => _count = _kept;

    /// <summary>The user's events before the page's place.</summary>
    public void Find(string app, string user, UserPlaces page)
    {
        var key = KeyOf(hash.Of(app, user));
        var left = Count;
        foreach (var chunk in Volatile.Read(ref _chunks))
        {
            foreach (ref readonly var record in chunk.AsSpan(0, Math.Min(left, Chunk)))
            {
                if (record.Key == key && record.Root < page.Before)
                {
                    page.Add(segment.Number, record);
                }
            }

            left -= Chunk;
            if (left <= 0)
            {
                return;
            }
        }
    }

    /// <summary>Gives the chunks to others; nothing of it is used any more.</summary>
    public void Release()
    {
        var used = Array.FindAll(_chunks, static chunk => chunk is not null);
        (_chunks, _count, _kept) = ([], 0, 0);
        if (used.Length > 0 && free?.Count < MostFree)
        {
            free.PushRange(used);
        }
    }

    /// <summary>All that stand; as many as there is room for.</summary>
    public void CopyTo(Span<UserRecord> into)
    {
        for (var i = 0; !into.IsEmpty; i++)
        {
            var part = Math.Min(Chunk, into.Length);
            _chunks[i].AsSpan(0, part).CopyTo(into);
            into = into[part..];
        }
    }
}
