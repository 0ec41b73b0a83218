using System.Diagnostics;

namespace Pnh.LoadTest;

/// <summary>
/// What one phase saw. Times are Stopwatch ticks; what was scheduled before <see cref="From"/> or after <see cref="Until"/> is not counted. Thread-safe.
/// </summary>
internal sealed class Recorder
{
    private readonly Lock _lock = new();
    private readonly List<long>[] _accepted = [.. Mix.Classes.Select(static _ => new List<long>())];
    private readonly List<long>[] _delivered = [.. Mix.Classes.Select(static _ => new List<long>())];
    private readonly List<long> _refused = [];
    private readonly List<long> _refusedOnWire = [];
    private readonly List<long> _late = [];
    private readonly long[] _refusedByClass = new long[Mix.Classes.Length];
    private long _withoutRetryAfter;
    private long _scheduled;
    private long _other;
    private long _heldBack;

    public Recorder(long from, long until)
    {
        From = from;
        Until = until;
    }

    public long From { get; }

    public long Until { get; }

    public long Scheduled => _scheduled;

    /// <summary>Neither 202 nor a refusal: broken connections, other statuses.</summary>
    public long Other => _other;

    /// <summary>Not sent because an earlier refusal asked for it.</summary>
    public long HeldBack => _heldBack;

    public long WithoutRetryAfter => _withoutRetryAfter;

    public long Refused => _refused.Count;

    public long AcceptedOf(int @class) => _accepted[@class].Count;

    public long DeliveredOf(int @class) => _delivered[@class].Count;

    public long RefusedOf(int @class) => _refusedByClass[@class];

    public long Accepted => _accepted.Sum(static samples => (long)samples.Count);

    /// <summary>It is due; the generator came to it at <paramref name="now"/>.</summary>
    public void Schedule(long due, long now)
    {
        if (!IsCounted(due))
        {
            return;
        }

        lock (_lock)
        {
            _scheduled++;
            _late.Add(now - due);
        }
    }

    public void HoldBack(long due)
    {
        if (IsCounted(due))
        {
            Interlocked.Increment(ref _heldBack);
        }
    }

    /// <param name="class">Position in the mix.</param>
    /// <param name="due">When it should have been sent.</param>
    /// <param name="written">When it was.</param>
    /// <param name="status">Of the answer; 0 = none came.</param>
    /// <param name="hasRetryAfter">Whether the answer said when to come back.</param>
    public void Answer(int @class, long due, long written, int status, bool hasRetryAfter)
    {
        if (!IsCounted(due))
        {
            return;
        }

        var now = Stopwatch.GetTimestamp();
        lock (_lock)
        {
            if (status == 202)
            {
                _accepted[@class].Add(now - due);
            }
            else if (status is 429 or 503)
            {
                _refused.Add(now - due);
                _refusedOnWire.Add(now - written);
                _refusedByClass[@class]++;
                _withoutRetryAfter += hasRetryAfter ? 0 : 1;
            }
            else
            {
                _other++;
            }
        }
    }

    public void Deliver(int @class, long due)
    {
        if (!IsCounted(due))
        {
            return;
        }

        var took = Stopwatch.GetTimestamp() - due;
        lock (_lock)
        {
            _delivered[@class].Add(took);
        }
    }

    public Quantiles Delivery(int @class) => Of(_delivered[@class]);

    public Quantiles Acceptance(int @class) => Of(_accepted[@class]);

    /// <summary>How late the generator itself was.</summary>
    public Quantiles Lateness() => Of(_late);

    public Quantiles Refusal() => Of(_refused);

    public Quantiles RefusalOnWire() => Of(_refusedOnWire);

    private Quantiles Of(List<long> samples)
    {
        lock (_lock)
        {
            return Quantiles.Of(samples);
        }
    }

    private bool IsCounted(long due) => due >= From && due < Until;
}

/// <summary>Exact quantiles in milliseconds; NaN without samples.</summary>
internal readonly record struct Quantiles(double Median, double P99, double Max)
{
    public static Quantiles Of(List<long> samples)
    {
        if (samples.Count == 0)
        {
            return new Quantiles(double.NaN, double.NaN, double.NaN);
        }

        var sorted = samples.ToArray();
        Array.Sort(sorted);
        double At(double quantile) => 1000.0 * sorted[(int)Math.Min(sorted.Length - 1, quantile * sorted.Length)] / Stopwatch.Frequency;
        return new Quantiles(At(0.5), At(0.99), At(1));
    }
}
