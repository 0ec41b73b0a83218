using System.Numerics;

namespace Pnh.LoadTest.Overload;

/// <summary>
/// What became of every event, by its number: who must get it, what was answered, which of the user's sessions got it. A total says nothing: a duplicate in it makes up for a loss.
/// Keeps the current phase and the one before. Not thread-safe.
/// </summary>
internal sealed class EventBook
{
    private const int PerChunk = 65_536;
    private readonly int _devices;
    private readonly List<Entry[]?> _chunks = [];
    private long _first = 1;
    private long _last;

    /// <param name="devices">Of every user: each must get each event.</param>
    public EventBook(int devices)
    {
        _devices = devices is >= 1 and <= 32 ? devices : throw new ArgumentException("--devices wants 1 to 32");
    }

    /// <summary>What is wrong in the current phase.</summary>
    public PhaseFaults Faults { get; private set; } = new();

    /// <summary>A phase begins, with no request under way; gives what was wrong in the one before.</summary>
    public PhaseFaults Begin()
    {
        for (var chunk = (int)(_first / PerChunk) - 1; chunk >= 0 && _chunks[chunk] is not null; chunk--)
        {
            _chunks[chunk] = null;
        }

        _first = _last + 1;
        var faults = Faults;
        Faults = new PhaseFaults();
        return faults;
    }

    /// <summary>The number of an event that is sent now.</summary>
    public long Add(int @class, int user)
    {
        if (++_last / PerChunk >= _chunks.Count)
        {
            _chunks.Add(new Entry[PerChunk]);
        }

        _chunks[^1]![_last % PerChunk] = new Entry { User = user, Class = (byte)@class };
        return _last;
    }

    /// <summary>Status 0 = the connection broke: nobody knows whether it was taken.</summary>
    public void Answer(long number, int status)
    {
        ref var entry = ref Find(number);
        var arrived = BitOperations.PopCount(entry.Arrived);
        if (status == 202)
        {
            entry.Answer = Answered.Taken;
            Faults.Lost[entry.Class] += _devices - arrived;
        }
        else if (status is 429 or 503)
        {
            entry.Answer = Answered.Refused;
            Faults.Unwanted[entry.Class] += arrived;
        }
        else
        {
            Faults.Broken[entry.Class]++;
        }
    }

    /// <summary>A session got it.</summary>
    /// <param name="number">In the frame's id.</param>
    /// <param name="class">The frame's.</param>
    /// <param name="user">Whose session it is.</param>
    /// <param name="device">Which of the user's.</param>
    /// <param name="mayRepeat">The session was lost once: what its acks did not reach the hub for rightly comes again.</param>
    public void Arrive(long number, int @class, int user, int device, bool mayRepeat)
    {
        if (number < 1 || number > _last)
        {
            Faults.Misrouted[@class]++; // nobody sent it
            return;
        }

        if (_chunks[(int)(number / PerChunk)] is null)
        {
            return;
        }

        ref var entry = ref Find(number);
        var bit = 1U << device;
        if (entry.User != user || entry.Class != @class)
        {
            Faults.Misrouted[@class]++;
        }
        else if ((entry.Arrived & bit) != 0)
        {
            Faults.Duplicate[@class] += mayRepeat ? 0 : 1;
        }
        else
        {
            entry.Arrived |= bit;
            Count(entry, number);
        }
    }

    // What comes a phase late was counted as lost in its own.
    private void Count(in Entry entry, long number)
    {
        if (number >= _first)
        {
            Faults.Lost[entry.Class] -= entry.Answer == Answered.Taken ? 1 : 0;
            Faults.Unwanted[entry.Class] += entry.Answer == Answered.Refused ? 1 : 0;
        }
    }

    private ref Entry Find(long number) => ref _chunks[(int)(number / PerChunk)]![number % PerChunk];

    private enum Answered : byte
    {
        Unknown,
        Taken,
        Refused,
    }

    private struct Entry
    {
        public int User;
        public uint Arrived;
        public byte Class;
        public Answered Answer;
    }
}
