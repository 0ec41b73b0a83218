namespace Pnh.LoadTest.Measure;

/// <summary>One way to a session beside another one of PNH itself: what a user must not notice.</summary>
/// <param name="Work">What is done, in words.</param>
/// <param name="Label">Of the runs that are judged.</param>
/// <param name="Reference">Of those that they are held against, in the same pair.</param>
/// <param name="Figure">Taken out of both.</param>
/// <param name="IsMoreBetter">Whether the limit is the least or the most.</param>
/// <param name="Limit">Of the ratio.</param>
internal sealed record Beside(string Work, string Label, string Reference, Func<BenchResult, double?> Figure, bool IsMoreBetter, double Limit)
{
    /// <summary>All of them. 10 us more a session are 0.1 CPU s of the 0.56 that 10,000 cost.</summary>
    public static IReadOnlyList<Beside> All { get; } =
    [
        new("members of joined, `transient`: deliveries per CPU second", "members:pnh", "broadcast:pnh", static run => run.DeliveriesPerCpuSecond, true, 0.95),
        new("the same: p99", "members:pnh", "broadcast:pnh", P99, false, 1.1),
        new("members of joined, `message`: deliveries per CPU second until all is settled", "members-acked:pnh", "broadcast-acked:pnh", static run => run.DeliveriesPerCpuSecond, true, 0.7),
        new("the same: p99 of the frames", "members-acked:pnh", "broadcast-acked:pnh", P99, false, 1.1),
        new("members of joined, idle: memory of a session", "idle-members:pnh", "idle:pnh", Extra("kilobytesPerSession"), false, 1.03),
        new("the same: CPU to accept 10,000", "idle-members:pnh", "idle:pnh", Extra("acceptCpuPer10000"), false, 1.18),
        new("POST to a topic of 300 members who are not here, beside 8,000 sessions; of a topic that nobody knows", "silent-members:pnh", "silent:pnh", static run => run.EventsPerCpuSecond, true, 0.95),
    ];

    private static double? P99(BenchResult run) => run.Latency?.P99;

    private static Func<BenchResult, double?> Extra(string name) => run => run.Extra.TryGetValue(name, out var value) ? value : null;
}
