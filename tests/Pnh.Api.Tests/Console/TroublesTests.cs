using Pnh.Api.Operations;
using Pnh.Api.WebConsole;
using Pnh.Core.Diagnostics;
using Pnh.Core.Events;

namespace Pnh.Api.Tests.ConsolePage;

/// <summary>The strip's lines.</summary>
public sealed class TroublesTests : IDisposable
{
    private readonly HubMetrics _metrics = new(Prometheus.Metrics.NewCustomRegistry(), TimeProvider.System);

    public void Dispose() => _metrics.Dispose();

    [Fact]
    public void Read_NothingIsWrong_IsEmpty()
    {
        using var queue = _metrics.RegisterQueue("apns demo/0", EventClass.Bulk, static () => 9, static () => 200);
        using var disk = _metrics.RegisterDisk(static () => 1, static () => 2L << 30);

        Assert.Empty(Read());
    }

    [Fact]
    public void Read_QueueIsOld_SaysWhichAndHowOld()
    {
        using var calls = _metrics.RegisterQueue("apns demo/0", EventClass.Call, static () => 9, static () => 1.6);
        using var messages = _metrics.RegisterQueue("fan-out", EventClass.Message, static () => 9, static () => 70);
        using var fine = _metrics.RegisterQueue("fan-out", EventClass.Transient, static () => 9, static () => 9);

        Assert.Equal(["apns demo/0: the oldest call of the queue waits for 2 s", "fan-out: the oldest message of the queue waits for 70 s"], Read());
    }

    [Fact]
    public void Read_DiskOrJournalIsBad_SaysSo()
    {
        using var disk = _metrics.RegisterDisk(static () => 1, static () => 300L << 20);
        using var journal = _metrics.RegisterJournal(static () => 7, static () => 2);

        var lines = Read(_metrics.Snapshot() with { JournalSyncP99 = 0.25, ThreadPoolDelayP99 = 0.12 });

        Assert.Equal(
            ["the disk of the data folder has 300 MiB left", "the journal takes 250 ms to sync (p99)", "work waits 120 ms for a thread (p99)", "the journal gave up 7 notes since the start", "the journal found 2 damaged records and put them aside"],
            lines.Select(static line => line.Split(": ")[0]));
    }

    private IReadOnlyList<string> Read(HubTotals? totals = null)
    {
        return new Troubles(new Readiness { IsReady = true }, [], _metrics).Read(totals ?? _metrics.Snapshot());
    }
}
