using Pnh.Core.Diagnostics;
using Pnh.Core.Events;
using Pnh.Core.Push;
using Pnh.Core.Tests.Shards;
using Pnh.Core.Users;
using Pnh.TestKit;

namespace Pnh.Core.Tests.Diagnostics;

/// <summary>The books of planned deliveries.</summary>
public sealed class LedgerTests
{
    [Fact]
    public async Task EveryEnd_IsBookedOnceInItsClassAndState()
    {
        await using var hub = new HubUnderTest();
        hub.Store.Put("ada", hub.Phone("phone"), hub.NewDevice("tablet"), hub.NewDevice("orphan", "orphan"));
        hub.Store.Put("dnd", new UserSettings { Mode = QuietMode.Drop, DoNotDisturbUntil = hub.Now.AddHours(1) }, hub.Phone("pad"));
        var (_, key) = await hub.OpenAsync("tablet");
        var acked = await hub.SendAsync(); // suppressed (acked elsewhere), acked, failed
        await hub.AckAsync(key, acked);
        await hub.SendAsync("\"class\":\"bulk\",\"ttl\":30"); // accepted, expired, failed
        await hub.SendAsync("\"except\":{\"devices\":[\"phone\",\"orphan\"]}"); // suppressed twice, pending
        await hub.SendAsync(to: """{"user":"dnd"}"""); // suppressed
        var withdrawn = await hub.SendAsync("\"class\":\"call\""); // accepted, withdrawn, failed
        await hub.Hub.WithdrawAsync("demo", withdrawn, "withdrawn", null, CancellationToken.None);
        await hub.PassAsync(31);
        hub.AssertLedger();
        Assert.Equal((7, 6, 1), hub.Metrics.Ledger.Of("demo").Read(EventClass.Message));
        Assert.Equal((3, 3, 0), hub.Metrics.Ledger.Of("demo").Read(EventClass.Bulk));
        Assert.Equal((3, 3, 0), hub.Metrics.Ledger.Of("demo").Read(EventClass.Call));
        Assert.Equal(1, hub.Hub.Shards.InFlight);
        Assert.Equal(
            ["accepted:2", "acked:1", "expired:1", "failed:3", "suppressed:4", "withdrawn:1"],
            hub.Journal.Settled.CountBy(m => m.State!).Select(c => $"{c.Key}:{c.Value}").Order());
    }

    [Fact]
    public async Task Transient_IsNotInTheBooks()
    {
        await using var hub = new HubUnderTest();
        await hub.OpenAsync("tab");
        await hub.SendAsync("\"class\":\"transient\"");
        Assert.Equal((0, 0, 0), hub.Metrics.Ledger.Of("demo").Read(EventClass.Transient));
    }

    [Fact]
    public void Metrics_ManyApps_EachHasAllThree()
    {
        var registry = Prometheus.Metrics.NewCustomRegistry();
        string[] apps = [.. Enumerable.Range(0, 40).Select(static i => $"app-{i}")];
        using var metrics = new HubMetrics(registry, new FakeTimeProvider(), apps);
        foreach (var app in apps)
        {
            metrics.Ledger.Of(app).Planned(EventClass.Bulk);
            metrics.Ledger.Of(app).InFlight(EventClass.Bulk, +1);
        }

        var page = Scrape.Of(registry);
        Assert.All(apps, app =>
        {
            Assert.Equal(1, page.Find($"pnh_ledger_planned_total{{app=\"{app}\",class=\"bulk\"}}"));
            Assert.Equal(0, page.Find($"pnh_ledger_settled_total{{app=\"{app}\",class=\"bulk\",state=\"acked\"}}"));
            Assert.Equal(1, page.Find($"pnh_ledger_in_flight{{app=\"{app}\",class=\"bulk\"}}"));
        });
    }

    [Fact]
    public void Metrics_UnknownApp_GoesToOther()
    {
        using var metrics = new HubMetrics(Prometheus.Metrics.NewCustomRegistry(), new FakeTimeProvider(), ["demo"]);
        metrics.Ledger.Of("stranger").Planned(EventClass.Call);
        metrics.Ledger.Of("elsewhere").Settled(EventClass.Call, DeliveryState.Acked);
        metrics.Ledger.Of("demo").Planned(EventClass.Call);
        metrics.Ledger.Of("demo").InFlight(EventClass.Call, +1);
        Assert.Equal((1, 0, 1), metrics.Ledger.Of("demo").Read(EventClass.Call));
        Assert.Equal((1, 1, 0), metrics.Ledger.Of("anybody").Read(EventClass.Call));
    }
}
