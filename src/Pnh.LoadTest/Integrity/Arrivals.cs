using System.Diagnostics;
using Pnh.LoadTest.Measure;
using Pnh.LoadTest.Options;

namespace Pnh.LoadTest.Integrity;

/// <summary>Where every delivery is judged, after <c>--break</c> had its way. Not thread-safe.</summary>
internal sealed class Arrivals
{
    /// <summary>One arrival in so many is tampered with: a prime, so that it hits all sessions in turn.</summary>
    public const int FaultEvery = 997;

    private readonly Fault _fault;
    private readonly long _lateAfter;
    private readonly Dictionary<StreamCheck[], (int Stream, long Sequence, long Due)> _held = [];
    private long _seen;

    /// <param name="fault">What to tamper with.</param>
    /// <param name="lateAfter">Seconds from due after which an arrival is late.</param>
    public Arrivals(Fault fault, double lateAfter)
    {
        _fault = fault;
        _lateAfter = (long)(lateAfter * Stopwatch.Frequency);
    }

    /// <summary>Times from due to arrival of what went to users.</summary>
    public LatencyHistogram ToUsers { get; private set; } = new();

    /// <summary>The same of what went to topics.</summary>
    public LatencyHistogram ToTopics { get; private set; } = new();

    /// <summary>That of the users where there is any: a profile with both wants to know it.</summary>
    public LatencyHistogram Latency => ToUsers.Count > 0 ? ToUsers : ToTopics;

    public long Count { get; private set; }

    public long Duplicates { get; private set; }

    public long Reordered { get; private set; }

    public long Late { get; private set; }

    public long Misrouted { get; private set; }

    /// <summary>With another id, number or filling than was sent.</summary>
    public long Mismatched { get; private set; }

    public void Mismatch() => Mismatched++;

    /// <summary>Something arrived at a recipient of these streams, now.</summary>
    public void Take(StreamCheck[] streams, int stream, long sequence, long due)
    {
        if (_fault == Fault.None)
        {
            Judge(streams, stream, sequence, due);
            return;
        }

        var isHit = ++_seen % FaultEvery == 0;
        if (!isHit || _fault != Fault.Lose)
        {
            if (isHit && _fault == Fault.Reorder && _held.TryAdd(streams, (stream, sequence, due)))
            {
                return;
            }

            Judge(streams, isHit && _fault == Fault.Misroute ? stream + 1 : stream, sequence, due);
            if (isHit && _fault == Fault.Duplicate)
            {
                Judge(streams, stream, sequence, due);
            }
        }

        if (_held.Remove(streams, out var held))
        {
            Judge(streams, held.Stream, held.Sequence, held.Due);
        }
    }

    /// <summary>Takes in what another process saw.</summary>
    public void Add(ShareReport report)
    {
        ToUsers.Add(report.ToUsers);
        ToTopics.Add(report.ToTopics);
        Count += report.Count;
        Duplicates += report.Duplicates;
        Reordered += report.Reordered;
        Late += report.Late;
        Misrouted += report.Misrouted;
        Mismatched += report.Mismatched;
    }

    /// <summary>Counts from here on.</summary>
    public void Restart()
    {
        (ToUsers, ToTopics, Count, Duplicates, Reordered, Late, Misrouted, Mismatched) = (new LatencyHistogram(), new LatencyHistogram(), 0, 0, 0, 0, 0, 0);
    }

    private void Judge(StreamCheck[] streams, int stream, long sequence, long due)
    {
        var check = Find(streams, stream);
        var verdict = check?.Take(sequence);
        if (verdict == Verdict.Past)
        {
            return;
        }

        var took = Stopwatch.GetTimestamp() - due;
        Count++;
        (stream < MessageLedger.FirstTopic ? ToUsers : ToTopics).Add(took);
        Late += took > _lateAfter ? 1 : 0;
        Duplicates += verdict == Verdict.Duplicate ? 1 : 0;
        Reordered += verdict == Verdict.Reordered ? 1 : 0;
        Misrouted += check is null ? 1 : 0;
    }

    private static StreamCheck? Find(StreamCheck[] streams, int stream)
    {
        foreach (var check in streams)
        {
            if (check.Stream == stream)
            {
                return check;
            }
        }

        return null;
    }
}
