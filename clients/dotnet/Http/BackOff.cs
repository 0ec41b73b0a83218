namespace Pnh.Client.Http;

/// <summary>How long to wait after failures: doubles, and all of it by chance, so that many do not come back in one moment. Not thread-safe.</summary>
internal sealed class BackOff(TimeSpan first, TimeSpan longest)
{
    private int _failed;

    /// <summary>The wait after one more failure.</summary>
    public TimeSpan Next() => Random.Shared.NextDouble() * TimeSpan.FromMilliseconds(Math.Min(longest.TotalMilliseconds, first.TotalMilliseconds * Math.Pow(2, _failed++)));

    /// <summary>The next failure is the first again.</summary>
    public void Reset() => _failed = 0;
}
