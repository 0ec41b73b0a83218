namespace Pnh.Core.Diagnostics.Exposition;

/// <summary>Bucket bounds in seconds. Fixed: dashboards and recorded quantiles hold on to them.</summary>
internal static class Buckets
{
    /// <summary>From accept to a frame or a provider's answer: below a millisecond in process, 30 s is a call's TTL.</summary>
    public static ReadOnlySpan<double> Delivery => [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

    /// <summary>From frame to the client's ack: a round trip of a phone, up to the 30 s that bulk waits.</summary>
    public static ReadOnlySpan<double> Ack => [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 3, 10, 30, 60];

    /// <summary>One fdatasync: 0.1 ms on NVMe, a second on a disk that fails.</summary>
    public static ReadOnlySpan<double> Sync => [0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5];

    /// <summary>How long a queued work item waits: starvation adds about one thread per second, so waits reach seconds.</summary>
    public static ReadOnlySpan<double> ThreadPool => [0.0001, 0.0005, 0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10];

    /// <summary>Life of a connection, or of a TLS handshake: from milliseconds to hours.</summary>
    public static ReadOnlySpan<double> Connection => [0.001, 0.01, 0.1, 1, 10, 60, 600, 3_600, 36_000];
}
