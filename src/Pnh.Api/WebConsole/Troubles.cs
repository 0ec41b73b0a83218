using System.Globalization;
using Pnh.Api.Operations;
using Pnh.Channels.Provider.Connections;
using Pnh.Core.Addresses;
using Pnh.Core.Diagnostics;
using Pnh.Core.Events;
using Pnh.Core.Timing;

namespace Pnh.Api.WebConsole;

/// <summary>
/// What an operator has to look at now, a line each: stores, disk, queues, breakers, credentials, the clock. The conditions of the alerts (<c>k8s/prometheus/rules.yml</c>) that one
/// moment tells, and the one of the disk. Thread-safe; quick, and waits for nothing.
/// </summary>
internal sealed class Troubles(Readiness readiness, IEnumerable<ProviderGauges> providers, HubMetrics metrics, DiskTrend disk, AddressRests rests)
{
    // Apple and Google refuse tokens that are dated an hour wrong; a minute is a clock that nobody sets.
    private const double MostSkew = 60;

    // As the alerts have it: users notice a thread that is waited for from some 250 ms, and each 202 waits for a sync.
    private const double LongWait = 0.1;

    private const double LeastFree = 1024.0 * 1024 * 1024;
    private const double Mebibyte = 1024 * 1024;
    private static readonly TimeSpan FullSoon = TimeSpan.FromHours(4);

    /// <summary>The lines; none = nothing is known to be wrong.</summary>
    /// <param name="totals">The hub's counters now.</param>
    public IReadOnlyList<string> Read(HubTotals totals) =>
        [.. OfStores(totals), .. OfQueues(), .. rests.Read().Select(OfRest), .. providers.SelectMany(static provider => provider.Readings.Select(one => Line(one.Reading, provider.Channel, one.Label, one.Read))).OfType<string>()];

    private static string Text(FormattableString line) => line.ToString(CultureInfo.InvariantCulture);

    private IEnumerable<string> OfStores(HubTotals totals)
    {
        if (readiness.Fault is { } fault)
        {
            yield return fault;
        }

        if (metrics.ReadFreeBytes() is { } free and < LeastFree)
        {
            yield return Text($"the disk of the data folder has {free / Mebibyte:F0} MiB left: on a full one durable events are refused");
        }

        if (metrics.ReadClockAhead() is var ahead && Math.Abs(ahead) > SteadyClock.LeastStep.TotalSeconds)
        {
            yield return Text($"the machine's clock was set: the hub's goes on evenly and is {ahead:F0} s ahead of it; tokens and certificates go by the machine's");
        }

        if (disk.FullIn() is { } left && left < FullSoon)
        {
            yield return Text($"the disk of the data folder is full in {left.TotalHours:F1} h, as the last hour went: then durable events are refused");
        }

        if (totals.JournalSyncP99 is { } sync and > LongWait)
        {
            yield return Text($"the journal takes {sync * 1_000:F0} ms to sync (p99): each durable event waits for it");
        }

        if (totals.ThreadPoolDelayP99 is { } wait and > LongWait)
        {
            yield return Text($"work waits {wait * 1_000:F0} ms for a thread (p99): too little CPU, or something blocks one");
        }

        if (metrics.ReadDroppedNotes() is var dropped and > 0)
        {
            yield return Text($"the journal gave up {dropped:F0} notes since the start: timelines lack them");
        }

        if (metrics.ReadDamagedRecords() is var damaged and > 0)
        {
            yield return Text($"the journal has {damaged:F0} damaged records, which are not served: replace the disk");
        }
    }

    private static string OfRest((string Channel, string Account, int Count, string? Reason, DateTimeOffset Since) one) =>
        Text($"{one.Channel}: {one.Count} addresses of {one.Account} get no pushes, as too many were refused at once ({one.Reason}): look at its topic, environment or project; pnh addresses ends it");

    private IEnumerable<string> OfQueues() => metrics.ReadQueueAges()
        .Where(static queue => queue.Seconds > MostAge(queue.Class))
        .Select(static queue => Text($"{queue.Queue}: the oldest {queue.Class} of the queue waits for {queue.Seconds:F0} s"));

    // In seconds. Bulk stands back for the rest.
    private static double MostAge(string @class) => @class == EventClass.Call.Label() ? 1 : @class == EventClass.Bulk.Label() ? 300 : 10;

    private static string? Line(ProviderReading reading, string channel, string label, Func<double> read) => reading switch
    {
        ProviderReading.OpenBreakers when read() > 0 => $"{channel}: a breaker is open, its pushes wait and are tried again",
        ProviderReading.CredentialSecondsLeft when read() < 0 => $"{channel}: the credential of {label} has run out",
        ProviderReading.ClockSkew when Math.Abs(read()) > MostSkew =>
            Text($"{channel}: this machine's clock is {Math.Abs(read()):F0} s {(read() > 0 ? "ahead of" : "behind")} the provider's"),
        _ => null,
    };
}
