using System.Diagnostics;

namespace Pnh.LoadTest.Overload;

/// <summary>Exact quantiles in milliseconds; NaN without samples.</summary>
internal readonly record struct Quantiles(double Median, double P99, double Max)
{
    /// <param name="samples">Stopwatch ticks, in any order; not changed.</param>
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
