namespace Pnh.Core.Timing;

/// <summary>How many answers came in the last minute, and how many of them were bad: in six parts of ten seconds, so the oldest are a minute old at most. Not thread-safe.</summary>
public sealed class LastMinute(TimeProvider time)
{
    private const int Parts = 6;
    private static readonly TimeSpan Part = TimeSpan.FromSeconds(10);
    private readonly (int All, int Bad)[] _parts = new (int, int)[Parts];
    private readonly long _start = time.GetTimestamp();
    private long _part;

    /// <summary>All of it, and the bad ones.</summary>
    public (int All, int Bad) Read()
    {
        Turn();
        var sum = (All: 0, Bad: 0);
        foreach (var (all, bad) in _parts)
        {
            sum = (sum.All + all, sum.Bad + bad);
        }

        return sum;
    }

    /// <summary>Counts one; true = it is the first of its ten seconds.</summary>
    public bool Add(bool isBad)
    {
        var isFirst = Turn();
        ref var part = ref _parts[_part % Parts];
        part.All++;
        part.Bad += isBad ? 1 : 0;
        return isFirst;
    }

    private bool Turn()
    {
        var now = (long)(time.GetElapsedTime(_start) / Part);
        if (now == _part)
        {
            return false;
        }

        for (var next = Math.Max(_part + 1, now - Parts + 1); next <= now; next++)
        {
            _parts[next % Parts] = default;
        }

        _part = now;
        return true;
    }
}
