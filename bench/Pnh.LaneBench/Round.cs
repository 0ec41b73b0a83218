namespace Pnh.LaneBench;

/// <summary>One way to push.</summary>
internal interface IClient : IAsyncDisposable
{
    /// <summary>Pushes one after another until the time has come; how many. Throws when an answer is no 200.</summary>
    Task<long> PushUntilAsync(long end, int worker);
}

/// <summary>What a round cost.</summary>
internal sealed record Round(long Requests, double CpuSeconds, double KernelSeconds, double Seconds, long Allocated)
{
    /// <summary>As many pushes as fit into the time, so many at once. Every answer must be a 200.</summary>
    public static async Task<Round> RunAsync(IClient client, int inFlight, TimeSpan time)
    {
        var allocated = GC.GetTotalAllocatedBytes(precise: true);
        var cpu = Environment.CpuUsage;
        var start = TimeProvider.System.GetTimestamp();
        var end = start + (long)(time.TotalSeconds * TimeProvider.System.TimestampFrequency);
        var counts = await Task.WhenAll(Enumerable.Range(0, inFlight).Select(worker => client.PushUntilAsync(end, worker)));
        var after = Environment.CpuUsage;
        return new Round(
            counts.Sum(),
            (after.TotalTime - cpu.TotalTime).TotalSeconds,
            (after.PrivilegedTime - cpu.PrivilegedTime).TotalSeconds,
            TimeProvider.System.GetElapsedTime(start).TotalSeconds,
            GC.GetTotalAllocatedBytes(precise: true) - allocated);
    }
}
