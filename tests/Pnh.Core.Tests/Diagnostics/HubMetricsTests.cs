using Pnh.Core.Diagnostics;
using Pnh.Core.Events;
using Pnh.Core.Push;
using Pnh.Core.Sessions;
using Pnh.TestKit;
using Prometheus;

namespace Pnh.Core.Tests.Diagnostics;

public sealed class HubMetricsTests : IDisposable
{
    private readonly CollectorRegistry _registry = Prometheus.Metrics.NewCustomRegistry();
    private readonly FakeTimeProvider _time = new();
    private readonly HubMetrics _metrics;

    public HubMetricsTests() => _metrics = new HubMetrics(_registry, _time, ["demo"]);

    public void Dispose() => _metrics.Dispose();

    /// <summary>The contract with dashboards: names and labels of the fixed list, exactly.</summary>
    [Theory]
    [InlineData("pnh_events_total{app=\"demo\",class=\"message\",result=\"accepted\"}", 1)]
    [InlineData("pnh_deliveries_total{channel=\"apns\",class=\"call\",status=\"accepted\"}", 1)]
    [InlineData("pnh_accept_to_frame_seconds_count{class=\"message\"}", 1)]
    [InlineData("pnh_accept_to_provider_seconds_count{channel=\"apns\",class=\"call\"}", 1)]
    [InlineData("pnh_ack_seconds_count{class=\"message\"}", 1)]
    [InlineData("pnh_sessions{state=\"active\"}", 2)]
    [InlineData("pnh_sessions{state=\"background\"}", 1)]
    [InlineData("pnh_queue_items{queue=\"apns\",class=\"call\"}", 4)]
    [InlineData("pnh_queue_age_seconds{queue=\"apns\",class=\"call\"}", 0.5)]
    [InlineData("pnh_provider_connections{channel=\"apns\",state=\"cold\"}", 1)]
    [InlineData("pnh_provider_connections{channel=\"apns\",state=\"warm\"}", 2)]
    [InlineData("pnh_provider_connections{channel=\"apns\",state=\"draining\"}", 3)]
    [InlineData("pnh_provider_in_flight{channel=\"apns\"}", 9)]
    [InlineData("pnh_provider_dials_total{channel=\"apns\",result=\"one\"}", 5)]
    [InlineData("pnh_provider_connection_ends_total{channel=\"apns\",cause=\"one\"}", 5)]
    [InlineData("pnh_provider_breakers_open{channel=\"apns\"}", 5)]
    [InlineData("pnh_provider_credential_left_seconds{channel=\"apns\",account=\"one\"}", 5)]
    [InlineData("pnh_provider_credential_reloads_total{channel=\"apns\",result=\"one\"}", 5)]
    [InlineData("pnh_provider_clock_skew_seconds{channel=\"apns\"}", 5)]
    [InlineData("pnh_addresses_stale", 6)]
    [InlineData("pnh_addresses_rested_total{channel=\"apns\"}", 7)]
    [InlineData("pnh_addresses_resting{channel=\"apns\"}", 4)]
    [InlineData("pnh_direct_connections", 8)]
    [InlineData("pnh_socket_closes_total{code=\"4002\"}", 11)]
    [InlineData("pnh_journal_sync_seconds_count", 1)]
    [InlineData("pnh_journal_dropped_notes_total", 6)]
    [InlineData("pnh_journal_damaged_records_total", 7)]
    [InlineData("pnh_journal_resting", 8)]
    [InlineData("pnh_journal_bytes", 9)]
    [InlineData("pnh_data_free_bytes", 10)]
    [InlineData("pnh_intake_limit", 5)]
    [InlineData("pnh_memory_live_bytes", 3)]
    [InlineData("pnh_memory_limit_bytes", 4)]
    [InlineData("pnh_memory_refuses{class=\"bulk\"}", 1)]
    [InlineData("pnh_memory_refuses{class=\"call\"}", 0)]
    [InlineData("pnh_ready", 1)]
    [InlineData("pnh_store_closed{store=\"journal\"}", 0)]
    [InlineData("pnh_store_closed{store=\"registry\"}", 1)]
    [InlineData("pnh_deadline_missed_total{class=\"call\"}", 1)]
    [InlineData("pnh_threadpool_delay_seconds_count", 1)]
    [InlineData("pnh_requests_served_total", 2)]
    public void Write_AfterTraffic_HasEverySeriesOfTheContract(string series, double value)
    {
        Traffic();
        Assert.Equal(value, Scrape.Of(_registry).Find(series));
    }

    [Fact]
    public void Write_AfterTraffic_HasQFactorAndBuildInfo()
    {
        Traffic();
        var page = Scrape.Of(_registry);
        Assert.Contains("# TYPE pnh_q_factor gauge", page.Lines);
        Assert.NotNull(page.Find("pnh_q_factor"));
        Assert.Equal(1, page.Find($"pnh_build_info{{version=\"{HubMetrics.Version}\"}}"));
        Assert.Matches(@"^\d+\.\d+\.\d+", HubMetrics.Version);
    }

    [Fact]
    public void EventCounted_AppsNotConfigured_AreOneSeries()
    {
        for (var i = 0; i < 50; i++)
        {
            _metrics.EventCounted($"made-up-{i}", EventClass.Bulk, EventResult.Invalid);
        }

        var page = Scrape.Of(_registry);
        Assert.Equal(50, page.Find("pnh_events_total{app=\"other\",class=\"bulk\",result=\"invalid\"}"));
        Assert.DoesNotContain("made-up", page.Text, StringComparison.Ordinal);
    }

    [Fact]
    public void EventCounted_MoreAppsThanTheBound_TheRestIsOneSeries()
    {
        var registry = Prometheus.Metrics.NewCustomRegistry();
        string[] apps = [.. Enumerable.Range(0, 103).Select(static n => $"app-{n:d3}")];
        using var metrics = new HubMetrics(registry, TimeProvider.System, apps);
        foreach (var app in apps)
        {
            metrics.EventCounted(app, EventClass.Call, EventResult.Accepted);
        }

        var page = Scrape.Of(registry);
        Assert.Equal(1, page.Find("pnh_events_total{app=\"app-099\",class=\"call\",result=\"accepted\"}"));
        Assert.Equal(3, page.Find("pnh_events_total{app=\"other\",class=\"call\",result=\"accepted\"}"));
    }

    [Fact]
    public void DeliveryCounted_MoreChannelsThanTheBound_AreOneSeries()
    {
        for (var i = 0; i < 40; i++)
        {
            _metrics.DeliveryCounted($"channel-{i}", EventClass.Message, DeliveryStatus.Sent);
        }

        var page = Scrape.Of(_registry);
        Assert.Equal(24, page.Find("pnh_deliveries_total{channel=\"other\",class=\"message\",status=\"sent\"}"));
        Assert.Equal(1, page.Find("pnh_deliveries_total{channel=\"channel-0\",class=\"message\",status=\"sent\"}"));
    }

    [Fact]
    public void RegisterProvider_MoreAccountsThanQueuesMayBe_HaveTheirOwnSeries()
    {
        for (var i = 0; i < 120; i++)
        {
            var left = i;
            _metrics.RegisterProvider(ProviderReading.CredentialSecondsLeft, "apns", $"app-{i}/0", () => left);
        }

        Assert.Equal(119, Scrape.Of(_registry).Find("pnh_provider_credential_left_seconds{channel=\"apns\",account=\"app-119/0\"}"));
    }

    [Fact]
    public void Registries_TwoInOneProcess_CountTheirOwn()
    {
        var other = Prometheus.Metrics.NewCustomRegistry();
        using var metrics = new HubMetrics(other, _time, ["demo"]);
        _metrics.RequestServed(5);
        metrics.RequestServed(2);
        Assert.Equal(5, Scrape.Of(_registry).Find("pnh_requests_served_total"));
        Assert.Equal(2, Scrape.Of(other).Find("pnh_requests_served_total"));
    }

    [Fact]
    public void RegisterQueue_Disposed_LeavesThePage()
    {
        var queue = _metrics.RegisterQueue("ingest", EventClass.Call, () => 3, () => 1.5);
        using var twin = _metrics.RegisterQueue("ingest", EventClass.Call, () => 4, () => 0.5);
        Assert.Equal(7, Scrape.Of(_registry).Find("pnh_queue_items{queue=\"ingest\",class=\"call\"}"));
        Assert.Equal(1.5, Scrape.Of(_registry).Find("pnh_queue_age_seconds{queue=\"ingest\",class=\"call\"}"));
        queue.Dispose();
        Assert.Equal(4, Scrape.Of(_registry).Find("pnh_queue_items{queue=\"ingest\",class=\"call\"}"));
        Assert.Equal(0.5, Scrape.Of(_registry).Find("pnh_queue_age_seconds{queue=\"ingest\",class=\"call\"}"));
    }

    [Fact]
    public void Snapshot_AfterTraffic_SumsOverAppsAndLeavesZerosOut()
    {
        Traffic();
        _metrics.EventCounted("stranger", EventClass.Message, EventResult.Accepted);
        var totals = _metrics.Snapshot();
        Assert.Equal([new EventTotal(EventClass.Message, EventResult.Accepted, 2)], totals.Events);
        Assert.Equal(
            [new DeliveryTotal("apns", DeliveryStatus.Accepted, 1), new DeliveryTotal("websocket", DeliveryStatus.Sent, 1)], totals.Deliveries);
        Assert.Equal(2, totals.ActiveSessions);
        Assert.Equal(1, totals.BackgroundSessions);
        Assert.Equal(2, totals.Served);
        Assert.Equal(1, totals.DeadlinesMissed);
        Assert.True(totals.CpuSeconds > 0);
        Assert.InRange(totals.JournalSyncP99!.Value, 0.001, 0.0025);
    }

    [Fact]
    public void QFactor_ServedWhileCpuWasUsed_IsAboveZeroAndFallsWhenIdle()
    {
        _metrics.RequestServed(1_000_000);
        SpinWait.SpinUntil(static () => false, TimeSpan.FromMilliseconds(50));
        _time.Advance(TimeSpan.FromSeconds(1));
        Assert.True(Scrape.Of(_registry).Find("pnh_q_factor") > 0);
        for (var second = 0; second < 61; second++)
        {
            _time.Advance(TimeSpan.FromSeconds(1));
        }

        Assert.Equal(0, _metrics.Snapshot().QFactor);
    }

    private void Traffic()
    {
        _metrics.EventCounted("demo", EventClass.Message, EventResult.Accepted);
        _metrics.DeliveryCounted("apns", EventClass.Call, DeliveryStatus.Accepted);
        _metrics.DeliveryCounted("websocket", EventClass.Message, DeliveryStatus.Sent);
        _metrics.AcceptToFrame(EventClass.Message, TimeSpan.FromMilliseconds(1));
        _metrics.AcceptToProvider("apns", EventClass.Call, TimeSpan.FromMilliseconds(61));
        _metrics.Acked(EventClass.Message, TimeSpan.FromMilliseconds(40));
        _metrics.JournalSynced(TimeSpan.FromMilliseconds(1.2));
        _metrics.RegisterJournal(static () => 6, static () => 7, static () => 8);
        _metrics.RegisterCertificate(static () => TimeSpan.FromSeconds(17));
        _metrics.RegisterClock(static () => 15, static () => TimeSpan.FromSeconds(16));
        _metrics.RegisterHistory(static () => TimeSpan.FromSeconds(12), TimeSpan.FromSeconds(13), static () => 14);
        _metrics.RegisterDisk(static () => 9, static () => 10);
        _metrics.RegisterReadiness(static () => true, [("journal", static () => false), ("registry", static () => true)]);
        _metrics.RegisterIntakeLimit(static () => 5);
        _metrics.RegisterMemory(static () => 3, static () => 4, static @class => @class == EventClass.Bulk);
        _metrics.DeadlineMissed(EventClass.Call);
        _metrics.RequestServed(2);
        _metrics.SessionsChanged(SessionState.Active, 3);
        _metrics.SessionsChanged(SessionState.Active, -1);
        _metrics.SessionsChanged(SessionState.Background, 1);
        _metrics.ThreadPoolDelay(TimeSpan.FromMilliseconds(2));
        _metrics.RegisterQueue("apns", EventClass.Call, () => 4, () => 0.5);
        foreach (var reading in Enum.GetValues<ProviderReading>())
        {
            _metrics.RegisterProvider(reading, "apns", "one", () => 5);
        }

        _metrics.RegisterAddresses(() => 6);
        _metrics.RegisterRests(["apns"], static _ => 7, static _ => 4);
        _metrics.RegisterConnections(() => 8);
        _metrics.RegisterCloses([("4002", static () => 11)]);
        _metrics.RegisterProvider("apns", state => state switch { "cold" => 1, "warm" => 2, _ => 3 }, () => 9);
    }
}
