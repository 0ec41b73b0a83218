using System.Globalization;

namespace Pnh.Storage.Segments.Format;

/// <summary>How far back the log goes, and how far its bound lets it go at the rate of the last day.</summary>
/// <param name="MostBytes">Above this many bytes the oldest finished history goes early; null = no bound is known.</param>
/// <param name="Retention">How long history is wanted.</param>
/// <param name="Written">Bytes that the last day brought, or less than a day where the log is younger.</param>
/// <param name="Over">In which time.</param>
/// <param name="Oldest">How long ago the oldest segment was begun.</param>
/// <param name="RetiredEarly">Segments whose history went before its retention was over, as the log may not be larger.</param>
/// <param name="Newest">When the youngest record was made.</param>
public readonly record struct LogReach(long? MostBytes, TimeSpan Retention, long Written, TimeSpan Over, TimeSpan Oldest, long RetiredEarly, DateTimeOffset Newest)
{
    private static readonly TimeSpan Day = TimeSpan.FromDays(1);

    // Of less nothing can be told.
    private static readonly TimeSpan LeastOver = TimeSpan.FromMinutes(10);
    private const long LeastWritten = 64 * 1024;

    /// <summary>What the bound holds at that rate; null = there is no bound, or no rate yet.</summary>
    public TimeSpan? Holds =>
        MostBytes is { } most && Over >= LeastOver && Written >= LeastWritten ? TimeSpan.FromSeconds(Math.Min(most * (Over.TotalSeconds / Written), TimeSpan.MaxValue.TotalSeconds / 2)) : null;

    /// <summary>True when history will go before its retention is over.</summary>
    public bool IsShort => Holds < Retention;

    /// <summary>In one line.</summary>
    public override string ToString() => string.Create(CultureInfo.InvariantCulture, $"{Bound()}{Rate()}; Pnh:Journal:Retention is {Retention.TotalHours:0.#} h");

    /// <summary>Of the log as it is.</summary>
    internal static LogReach Of(SegmentSet segments, long? mostBytes, TimeSpan retention, DateTimeOffset now, long retiredEarly)
    {
        var (written, from) = (0L, now);
        var all = segments.All;
        for (var i = all.Length - 1; i >= 0 && now - from < Day; i--)
        {
            written += all[i].End - SegmentHeader.Bytes;
            from = new DateTimeOffset(all[i].Header.MadeAt, TimeSpan.Zero);
        }

        var newest = 0L;
        foreach (var segment in all)
        {
            newest = Math.Max(newest, segment.Newest);
        }

        return new LogReach(mostBytes, retention, written, now > from ? now - from : TimeSpan.Zero, now - new DateTimeOffset(all[0].Header.MadeAt, TimeSpan.Zero), retiredEarly, new DateTimeOffset(newest, TimeSpan.Zero));
    }

    private string Bound() => MostBytes is { } most
        ? string.Create(CultureInfo.InvariantCulture, $"The journal may take {most / 1e6:F0} MB (Pnh:Journal:MaxBytes)")
        : "The journal has no bound (Pnh:Journal:MaxBytes), as the disk does not say how large it is";

    private string Rate() => Holds is { } holds
        ? string.Create(CultureInfo.InvariantCulture, $": at the rate of the last day, {Written / Over.TotalDays / 1e6:F0} MB a day, that is {holds.TotalHours:0.#} h of history")
        : "";
}
