using Microsoft.Extensions.Logging.Abstractions;
using Microsoft.Extensions.Time.Testing;
using Pnh.Api.Operations;
using Pnh.Api.WebConsole;
using Pnh.Core.Addresses;
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
        using var journal = _metrics.RegisterJournal(static () => 7, static () => 2, static () => 0);

        var lines = Read(_metrics.Snapshot() with { JournalSyncP99 = 0.25, ThreadPoolDelayP99 = 0.12 });

        Assert.Equal(
            ["the disk of the data folder has 300 MiB left", "the journal takes 250 ms to sync (p99)", "work waits 120 ms for a thread (p99)", "the journal gave up 7 notes since the start", "the journal has 2 damaged records, which are not served"],
            lines.Select(static line => line.Split(": ")[0]));
    }

    [Fact]
    public void Read_DiskFillsUp_SaysInHowManyHours()
    {
        var free = 40.0 * (1L << 30);
        var time = new FakeTimeProvider();
        using var trend = new DiskTrend(() => free, time);
        for (var minute = 0; minute < 9; minute++)
        {
            Pass(0.25);
        }

        Assert.Empty(Read(trend)); // ten looks say nothing yet
        Pass(0.25);
        Assert.Equal("the disk of the data folder is full in 2.5 h, as the last hour went", Assert.Single(Read(trend)).Split(": ")[0]);
        for (var minute = 0; minute < 60; minute++)
        {
            Pass(0.01);
        }

        Assert.Empty(Read(trend)); // the hour before does not count any more
        for (var minute = 0; minute < 60; minute++)
        {
            Pass(-0.25);
        }

        Assert.Null(trend.FullIn());

        void Pass(double gibibytes)
        {
            free -= gibibytes * (1L << 30);
            time.Advance(TimeSpan.FromMinutes(1));
        }
    }

    private IReadOnlyList<string> Read(HubTotals? totals = null)
    {
        using var trend = new DiskTrend(static () => null, TimeProvider.System);
        return Read(trend, totals);
    }

    private IReadOnlyList<string> Read(DiskTrend trend, HubTotals? totals = null) =>
        new Troubles(new Readiness { IsReady = true }, [], _metrics, trend, new AddressRests(null!, null!, TimeProvider.System, NullLogger.Instance)).Read(totals ?? _metrics.Snapshot());
}
