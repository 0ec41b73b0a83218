using System.Globalization;

namespace Pnh.Core.Tests.Shards;

/// <summary>
/// Random lives against a simple model: hellos, losses and resumes, acks on sockets and through the inbox, answers, withdrawals, collapse keys,
/// topics, TTLs, settings, providers' answers, restarts. After each step the hub is compared with the model; at the end everything has ended once.
/// <c>PNH_MODEL_SEEDS=1000</c> runs that many more.
/// </summary>
public sealed class HubModelTests
{
    public static TheoryData<int> Seeds =>
        [.. Enumerable.Range(1, 12 + int.Parse(Environment.GetEnvironmentVariable("PNH_MODEL_SEEDS") ?? "0", CultureInfo.InvariantCulture))];

    [Theory]
    [MemberData(nameof(Seeds))]
    public async Task RandomLife_KeepsItsPromises(int seed)
    {
        await using var life = new ModelLife(seed);
        await life.RunAsync(300);
    }
}
