namespace Pnh.LoadTest.Measure;

/// <summary>What the sessions of another process of this tool saw since they were last restarted; <see cref="Dropped"/> since the start.</summary>
internal sealed record ShareReport(
    long Count, long Lost, long Duplicates, long Reordered, long Late, long Misrouted, long Unwanted, long Mismatched, int Dropped, double CpuSeconds, HistogramData ToUsers, HistogramData ToTopics);
