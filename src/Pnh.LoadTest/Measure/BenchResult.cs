using System.Text.Json.Serialization;

namespace Pnh.LoadTest.Measure;

/// <summary>Times in milliseconds, from when each thing was due.</summary>
internal sealed record Times(double Mean, double P50, double P90, double P99, double P999, double Max)
{
    public static Times? Of(LatencyHistogram histogram) => histogram.Count == 0
        ? null
        : new Times(histogram.MeanMilliseconds, histogram.At(0.5), histogram.At(0.9), histogram.At(0.99), histogram.At(0.999), histogram.MaxMilliseconds);
}

/// <summary>What came wrong. Expected: accepted events times those that should get each. Unwanted: what was refused and came all the same. Mismatched: with another id, number or filling.</summary>
internal sealed record Wrong(long Expected, long Lost, long Duplicate, long Reordered, long Late, long Misrouted, long Unwanted = 0, long Mismatched = 0)
{
    /// <summary>Everything but what was only late.</summary>
    [JsonIgnore]
    public long Count => Lost + Duplicate + Reordered + Misrouted + Unwanted + Mismatched;
}

/// <summary>One run's figures. Null = not known, or nothing to count.</summary>
internal sealed record BenchResult
{
    public required string Profile { get; init; }

    public required string Peer { get; init; }

    public string Label { get; init; } = "";

    /// <summary>Which of the interleaved pairs it belongs to; null = none was named.</summary>
    public int? Pair { get; init; }

    public required string Class { get; init; }

    public int Sessions { get; init; }

    public int Publishers { get; init; }

    public int Size { get; init; }

    /// <summary>Of the measured time, from its first event until the last one had arrived.</summary>
    public double Seconds { get; init; }

    /// <summary>CPU seconds of the server in it.</summary>
    public double? ServerCpu { get; init; }

    /// <summary>CPU seconds of this tool in it: near <see cref="Seconds"/> the tool is the limit.</summary>
    public double GeneratorCpu { get; init; }

    public long Events { get; init; }

    /// <summary>Answered 429 or 503.</summary>
    public long Refused { get; init; }

    /// <summary>Answered otherwise, or not at all.</summary>
    public long Broken { get; init; }

    /// <summary>The last status of those; 0 = none came.</summary>
    public int LastStatus { get; init; }

    public long Deliveries { get; init; }

    public double? EventsPerSecond { get; init; }

    public double? EventsPerCpuSecond { get; init; }

    public double? DeliveriesPerCpuSecond { get; init; }

    public double? CpuMicrosecondsPerDelivery { get; init; }

    public double? CpuMicrosecondsPerEvent { get; init; }

    /// <summary>Requests served per CPU second: PNH's own counters; of a peer events and deliveries.</summary>
    public double? Q { get; init; }

    /// <summary>From due to arrival.</summary>
    public Times? Latency { get; init; }

    /// <summary>From due to the publisher's answer.</summary>
    public Times? Answer { get; init; }

    /// <summary>How late the tool itself was.</summary>
    public Times? Lateness { get; init; }

    public Wrong? Wrong { get; init; }

    /// <summary>Sessions that broke or were closed.</summary>
    public int Dropped { get; init; }

    /// <summary>What this profile counts besides.</summary>
    public Dictionary<string, double> Extra { get; init; } = [];

    /// <summary>What is wrong by the profile's own rules, in words.</summary>
    public IReadOnlyList<string> Faults { get; init; } = [];

    /// <summary>Whether everything was taken and came as it should. A run that is not says nothing about speed.</summary>
    [JsonIgnore]
    public bool IsClean => !Problems.Any();

    /// <summary>Why it is not clean, in words.</summary>
    [JsonIgnore]
    public IEnumerable<string> Problems
    {
        get
        {
            if (Wrong is { Count: > 0 } wrong)
            {
                yield return FormattableString.Invariant(
                    $"of {wrong.Expected}: {wrong.Lost} lost, {wrong.Duplicate} duplicate, {wrong.Reordered} reordered, {wrong.Misrouted} misrouted, {wrong.Unwanted} unwanted, {wrong.Mismatched} mismatched");
            }

            if (Broken > 0)
            {
                yield return FormattableString.Invariant($"{Broken} events were neither taken nor refused, last status {LastStatus}");
            }

            if (Events == 0 && Refused > 0)
            {
                yield return FormattableString.Invariant($"nothing was taken, {Refused} refused");
            }

            if (Dropped > 0 && !DropsArePoint)
            {
                yield return FormattableString.Invariant($"{Dropped} sessions dropped");
            }

            foreach (var fault in Faults)
            {
                yield return fault;
            }
        }
    }

    // These break their sessions themselves, or the server.
    private bool DropsArePoint => Profile is "storm" or "idle" or "stop";
}

/// <summary>Names as in JSON everywhere here.</summary>
[JsonSourceGenerationOptions(PropertyNamingPolicy = JsonKnownNamingPolicy.CamelCase, DefaultIgnoreCondition = JsonIgnoreCondition.WhenWritingNull)]
[JsonSerializable(typeof(BenchResult))]
[JsonSerializable(typeof(ShareReport))]
internal sealed partial class BenchJson : JsonSerializerContext;
