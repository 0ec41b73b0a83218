using Pnh.Core.Diagnostics.Exposition;
using Prometheus;

namespace Pnh.Core.Tests.Diagnostics;

public sealed class CollectFeedTests
{
    private readonly CollectorRegistry _registry = Prometheus.Metrics.NewCustomRegistry();
    private readonly CollectFeed _feed;

    public CollectFeedTests() => _feed = new CollectFeed(_registry);

    [Fact]
    public void Counters_FedFromCells_FollowThemAtEachCollect()
    {
        var cells = new StripedCells(2);
        var family = _feed.Counters("odd_total", "O.", "label");
        _feed.Add(family.WithLabels("first"), cells, 0);
        _feed.Add(family.WithLabels("q\"b\\n\nü"), cells, 1);
        Assert.Equal(0, Scrape.Of(_registry).Find("odd_total{label=\"first\"}"));
        cells.Add(0, 3);
        cells.Add(1, 1);
        Assert.Equal(3, Scrape.Of(_registry).Find("odd_total{label=\"first\"}"));
        cells.Add(0, 4);
        Assert.Equal(7, Scrape.Of(_registry).Find("odd_total{label=\"first\"}"));
        Assert.Equal(1, Scrape.Of(_registry).Find("odd_total{label=\"q\\\"b\\\\n\\nü\"}"));
    }

    [Fact]
    public void Durations_CollectedOnTheWay_AreCumulativeWithExactSumAndCount()
    {
        var durations = _feed.Durations("wait_seconds", "Wait.", [0.5, 1], "class")(["call"]);
        durations.Record(TimeSpan.FromSeconds(0.25));
        durations.Record(TimeSpan.FromSeconds(0.375));
        Assert.Equal(2, Scrape.Of(_registry).Find("wait_seconds_count{class=\"call\"}"));
        durations.Record(TimeSpan.FromSeconds(0.5));
        durations.Record(TimeSpan.FromSeconds(0.75));
        durations.Record(TimeSpan.FromSeconds(8));
        Assert.Equal(
            [
                "# HELP wait_seconds Wait.",
                "# TYPE wait_seconds histogram",
                "wait_seconds_sum{class=\"call\"} 9.875",
                "wait_seconds_count{class=\"call\"} 5",
                "wait_seconds_bucket{class=\"call\",le=\"0.5\"} 3",
                "wait_seconds_bucket{class=\"call\",le=\"1\"} 4",
                "wait_seconds_bucket{class=\"call\",le=\"+Inf\"} 5",
            ],
            Scrape.Of(_registry).Lines.Where(l => l.Contains("wait_seconds", StringComparison.Ordinal)));
    }

    [Fact]
    public async Task Durations_RecordedWhileCollected_StayInTheirBuckets()
    {
        var durations = _feed.Durations("wait_seconds", "Wait.", [0.001, 0.002])([]);
        using var stop = new CancellationTokenSource();
        var recording = Task.Run(() =>
        {
            var recorded = 0;
            for (; !stop.IsCancellationRequested; recorded++)
            {
                durations.Record(TimeSpan.FromTicks(recorded % 2 == 0 ? 10_001 : 20_000)); // the bounds of the second bucket
            }

            return recorded;
        });
        for (var i = 0; i < 200; i++)
        {
            var page = Scrape.Of(_registry);
            Assert.Equal(0, page.Find("wait_seconds_bucket{le=\"0.001\"}") ?? 0);
            Assert.Equal(page.Find("wait_seconds_bucket{le=\"0.002\"}"), page.Find("wait_seconds_bucket{le=\"+Inf\"}"));
        }

        await stop.CancelAsync();
        var count = await recording;
        var last = Scrape.Of(_registry);
        Assert.Equal(count, last.Find("wait_seconds_count"));
        // One that was under way at the collect before may be in the sum twice, until the next ones make up for it.
        Assert.InRange(last.Find("wait_seconds_sum")!.Value - ((count / 2 * 0.0030001) + (count % 2 * 0.0010001)), -1e-6, 0.002);
    }

    [Fact]
    public void Durations_OfATrace_AreAnExemplarOfTheirBucket()
    {
        var durations = _feed.Durations("wait_seconds", "Wait.", [0.5, 1])([]);
        durations.Record(TimeSpan.FromSeconds(0.75));
        durations.Record(TimeSpan.FromSeconds(0.875), "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01");
        durations.Record(TimeSpan.FromSeconds(0.25), "something else");
        var page = Scrape.Of(_registry, ExpositionFormat.OpenMetricsText);
        Assert.Contains(
            page.Lines, static line => line.StartsWith("wait_seconds_bucket{le=\"1.0\"} 3 # {trace_id=\"0af7651916cd43dd8448eb211c80319c\",span_id=\"b7ad6b7169203331\"} 0.875 ", StringComparison.Ordinal));
        Assert.Contains("wait_seconds_bucket{le=\"0.5\"} 1", page.Lines);
        Assert.Contains("wait_seconds_sum 1.875", page.Lines);
        Assert.DoesNotContain("trace_id", Scrape.Of(_registry).Text, StringComparison.Ordinal);
    }

    [Theory]
    [InlineData("00-0af7651916cd43dd\"} 1 # {x=\"80319c-b7ad6b7169203331-01")]
    [InlineData("00-0AF7651916CD43DD8448EB211C80319C-b7ad6b7169203331-01")]
    [InlineData("00-00000000000000000000000000000000-b7ad6b7169203331-01")]
    public void Durations_OfATraceThatIsNone_HaveNoExemplar(string traceParent)
    {
        var durations = _feed.Durations("wait_seconds", "Wait.", [0.5])([]);
        durations.Record(TimeSpan.FromSeconds(0.25), traceParent);
        var page = Scrape.Of(_registry, ExpositionFormat.OpenMetricsText);
        Assert.Contains("wait_seconds_bucket{le=\"0.5\"} 1", page.Lines);
    }

    [Fact]
    public void Gauges_CallbackThrows_LeavesItOutAndCountsIt()
    {
        var isBroken = true;
        _feed.Gauges("bad", "B.").Add(() => isBroken ? throw new ObjectDisposedException("lane") : 5);
        _feed.Gauges("good", "G.").Add(static () => 7);
        var first = Scrape.Of(_registry);
        Assert.Null(first.Find("bad"));
        Assert.Equal(7, first.Find("good"));
        Assert.Equal(1, first.Find("pnh_scrape_failures_total"));
        isBroken = false;
        Assert.Equal(5, Scrape.Of(_registry).Find("bad"));
        isBroken = true;
        Assert.Null(Scrape.Of(_registry).Find("bad"));
    }

    [Fact]
    public void Gauges_SameLabels_AreFoldedUntilDisposed()
    {
        var sum = _feed.Gauges("items", "I.", Fold.Sum, "queue");
        var max = _feed.Gauges("age", "A.", Fold.Max, "queue");
        var first = sum.Add(static () => 2, "a");
        var second = sum.Add(static () => 3, "a");
        max.Add(static () => 2, "a");
        max.Add(static () => 3, "a");
        Assert.Equal(5, Scrape.Of(_registry).Find("items{queue=\"a\"}"));
        Assert.Equal(3, Scrape.Of(_registry).Find("age{queue=\"a\"}"));

        first.Dispose();
        first.Dispose();
        Assert.Equal(3, Scrape.Of(_registry).Find("items{queue=\"a\"}"));
        second.Dispose();
        Assert.Null(Scrape.Of(_registry).Find("items{queue=\"a\"}"));
        sum.Add(static () => 1, "a");
        Assert.Equal(1, Scrape.Of(_registry).Find("items{queue=\"a\"}"));
    }

    [Fact]
    public void Gauges_MoreLabelSetsThanTheBound_BecomeOther()
    {
        var family = _feed.Gauges("items", "I.", Fold.Sum, "queue");
        for (var i = 0; i < ReadingFamily.MaxSeries + 20; i++)
        {
            family.Add(static () => 1, $"queue-{i}");
        }

        var page = Scrape.Of(_registry);
        Assert.Equal(20, page.Find("items{queue=\"other\"}"));
        Assert.Equal(ReadingFamily.MaxSeries + 1, page.Lines.Count(l => l.StartsWith("items{", StringComparison.Ordinal)));
    }

    [Fact]
    public void CounterReadings_ThatFall_KeepWhatTheyWere()
    {
        var value = 5;
        _feed.CounterReadings("dials_total", "D.").Add(() => value);
        Assert.Equal(5, Scrape.Of(_registry).Find("dials_total"));
        value = 2;
        Assert.Equal(5, Scrape.Of(_registry).Find("dials_total"));
        Assert.Contains("# TYPE dials_total counter", Scrape.Of(_registry).Lines);
    }
}
