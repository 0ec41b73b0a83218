using Pnh.LoadTest.Measure;

namespace Pnh.LoadTest.Profiles;

/// <summary>The profiles by name.</summary>
internal static class Catalogue
{
    public static IReadOnlyDictionary<string, Func<BenchRun, BenchResult>> Profiles { get; } = new Dictionary<string, Func<BenchRun, BenchResult>>(StringComparer.Ordinal)
    {
        ["broadcast"] = BroadcastProfile.Run,
        ["one"] = OneProfile.Run,
        ["ndjson"] = NdjsonProfile.Run,
        ["echo"] = EchoProfile.Run,
        ["chat"] = ChatProfile.Run,
        ["fan-out"] = FanOutProfile.Run,
        ["storm"] = StormProfile.Run,
        ["groups"] = GroupsProfile.Run,
        ["idle"] = IdleProfile.Run,
        ["silent"] = SilentProfile.Run,
        ["stop"] = StopProfile.Run,
        ["mixed"] = MixedProfile.Run,
    };
}
