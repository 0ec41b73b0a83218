using System.Diagnostics;

namespace Pnh.LoadTest.Overload;

/// <summary>
/// What one phase saw. Times are Stopwatch ticks. What happens from <see cref="From"/> to <see cref="Until"/> is counted, whenever it was due; latencies count from when it was
/// due. Not thread-safe.
/// </summary>
internal sealed class Recorder
{
    private readonly List<long>[] _accepted = [.. Mix.Classes.Select(static _ => new List<long>())];
    private readonly List<long>[] _delivered = [.. Mix.Classes.Select(static _ => new List<long>())];
    private readonly List<long> _refused = [];
    private readonly List<long> _refusedOnWire = [];
    private readonly List<long> _late = [];
    private readonly long[] _refusedByClass = new long[Mix.Classes.Length];

    public Recorder(long from, long until)
    {
        From = from;
        Until = until;
    }

    public long From { get; }

    public long Until { get; }

    /// <summary>Due in the time.</summary>
    public long Scheduled { get; private set; }

    /// <summary>Neither 202 nor a refusal: broken connections, other statuses.</summary>
    public long Other { get; private set; }

    /// <summary>Not sent because an earlier refusal asked for it.</summary>
    public long HeldBack { get; private set; }

    /// <summary>Not sent because no connection was idle for as long as a publisher has patience.</summary>
    public long GivenUp { get; private set; }

    public long WithoutRetryAfter { get; private set; }

    public long Refused => _refused.Count;

    public long Accepted => _accepted.Sum(static samples => (long)samples.Count);

    public long RefusedOf(int @class) => _refusedByClass[@class];

    /// <summary>It is due; the generator came to it at <paramref name="now"/>.</summary>
    public void Schedule(long due, long now)
    {
        if (IsCounted(due))
        {
            Scheduled++;
            _late.Add(now - due);
        }
    }

    public void HoldBack()
    {
        HeldBack += IsCounted(Stopwatch.GetTimestamp()) ? 1 : 0;
    }

    public void GiveUp()
    {
        GivenUp += IsCounted(Stopwatch.GetTimestamp()) ? 1 : 0;
    }

    /// <param name="class">Position in the mix.</param>
    /// <param name="due">When it should have been sent.</param>
    /// <param name="written">When it was.</param>
    /// <param name="status">Of the answer; 0 = none came.</param>
    /// <param name="hasRetryAfter">Whether the answer said when to come back.</param>
    public void Answer(int @class, long due, long written, int status, bool hasRetryAfter)
    {
        var now = Stopwatch.GetTimestamp();
        if (!IsCounted(now))
        {
            return;
        }

        if (status == 202)
        {
            _accepted[@class].Add(now - due);
        }
        else if (status is 429 or 503)
        {
            _refused.Add(now - due);
            _refusedOnWire.Add(now - written);
            _refusedByClass[@class]++;
            WithoutRetryAfter += hasRetryAfter ? 0 : 1;
        }
        else
        {
            Other++;
        }
    }

    /// <summary>A session got it.</summary>
    public void Deliver(int @class, long due)
    {
        var now = Stopwatch.GetTimestamp();
        if (IsCounted(now))
        {
            _delivered[@class].Add(now - due);
        }
    }

    public Quantiles Delivery(int @class) => Quantiles.Of(_delivered[@class]);

    public Quantiles Acceptance(int @class) => Quantiles.Of(_accepted[@class]);

    /// <summary>How late the generator itself was.</summary>
    public Quantiles Lateness() => Quantiles.Of(_late);

    public Quantiles Refusal() => Quantiles.Of(_refused);

    public Quantiles RefusalOnWire() => Quantiles.Of(_refusedOnWire);

    private bool IsCounted(long time) => time >= From && time < Until;
}
