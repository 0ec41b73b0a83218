using Pnh.Core.Diagnostics.Exposition;

namespace Pnh.Core.Tests.Diagnostics;

public sealed class MetricRegistryTests
{
    [Fact]
    public void Write_LabelsAndHelpWithSpecialCharacters_AreEscaped()
    {
        var registry = new MetricRegistry();
        registry.Counters("odd_total", "a \\ b\n\"c\"", "label").Add(new Counter(new StripedCells(1), 0), "q\"b\\n\nü");
        var page = Scrape.Of(registry);
        Assert.Contains("# HELP odd_total a \\\\ b\\n\"c\"", page.Lines);
        Assert.Contains("odd_total{label=\"q\\\"b\\\\n\\nü\"} 0", page.Lines);
    }

    [Fact]
    public void Write_Histogram_IsCumulativeWithSumAndCount()
    {
        var registry = new MetricRegistry();
        var histogram = registry.Histograms("wait_seconds", "Wait.", [0.5, 1], "class").Add("call");
        histogram.Record(TimeSpan.FromSeconds(0.25));
        histogram.Record(TimeSpan.FromSeconds(0.75));
        histogram.Record(TimeSpan.FromSeconds(8));
        Assert.Equal(
            [
                "# HELP wait_seconds Wait.",
                "# TYPE wait_seconds histogram",
                "wait_seconds_bucket{class=\"call\",le=\"0.5\"} 1",
                "wait_seconds_bucket{class=\"call\",le=\"1\"} 2",
                "wait_seconds_bucket{class=\"call\",le=\"+Inf\"} 3",
                "wait_seconds_sum{class=\"call\"} 9",
                "wait_seconds_count{class=\"call\"} 3",
            ],
            Scrape.Of(registry).Lines.Where(l => l.Contains("wait_seconds", StringComparison.Ordinal)));
    }

    [Theory]
    [InlineData(double.PositiveInfinity, "+Inf")]
    [InlineData(double.NegativeInfinity, "-Inf")]
    [InlineData(double.NaN, "NaN")]
    [InlineData(1.5, "1.5")]
    [InlineData(-double.MaxValue, "-1.7976931348623157E+308")]
    public void Write_AnyDouble_IsANumberOfTheFormat(double value, string text)
    {
        var registry = new MetricRegistry();
        registry.Gauges("value", "V.").Add(() => value);
        Assert.Contains("value " + text, Scrape.Of(registry).Lines);
    }

    [Fact]
    public void Add_NameTaken_Throws()
    {
        var registry = new MetricRegistry();
        registry.Gauges("one", "1.");
        Assert.Throws<ArgumentException>(() => registry.Counters("one", "1."));
    }

    [Theory]
    [InlineData("")]
    [InlineData("9lives")]
    [InlineData("a.b")]
    [InlineData("ü")]
    public void Add_IllegalName_Throws(string name) => Assert.Throws<ArgumentException>(() => new MetricRegistry().Gauges(name, "h"));

    [Fact]
    public void Write_CallbackThrows_LeavesItOutAndCountsIt()
    {
        var registry = new MetricRegistry();
        registry.Gauges("bad", "B.").Add(static () => throw new ObjectDisposedException("lane"));
        registry.Gauges("good", "G.").Add(static () => 7);
        var first = Scrape.Of(registry);
        Assert.Null(first.Find("bad"));
        Assert.DoesNotContain("# TYPE bad gauge", first.Lines);
        Assert.Equal(7, first.Find("good"));
        Assert.Equal(1, first.Find("pnh_scrape_failures_total"));
    }

    [Fact]
    public void Callbacks_SameLabels_AreFoldedUntilDisposed()
    {
        var registry = new MetricRegistry();
        var sum = registry.Gauges("items", "I.", Fold.Sum, "queue");
        var max = registry.Gauges("age", "A.", Fold.Max, "queue");
        var first = sum.Add(static () => 2, "a");
        var second = sum.Add(static () => 3, "a");
        max.Add(static () => 2, "a");
        max.Add(static () => 3, "a");
        Assert.Equal(5, Scrape.Of(registry).Find("items{queue=\"a\"}"));
        Assert.Equal(3, Scrape.Of(registry).Find("age{queue=\"a\"}"));

        first.Dispose();
        first.Dispose();
        Assert.Equal(3, Scrape.Of(registry).Find("items{queue=\"a\"}"));
        second.Dispose();
        Assert.Null(Scrape.Of(registry).Find("items{queue=\"a\"}"));
    }

    [Fact]
    public void Callbacks_MoreLabelSetsThanTheBound_BecomeOther()
    {
        var registry = new MetricRegistry();
        var family = registry.Gauges("items", "I.", Fold.Sum, "queue");
        for (var i = 0; i < CallbackFamily.MaxSeries + 20; i++)
        {
            family.Add(static () => 1, $"queue-{i}");
        }

        var page = Scrape.Of(registry);
        Assert.Equal(20, page.Find("items{queue=\"other\"}"));
        Assert.Equal(CallbackFamily.MaxSeries + 1, page.Lines.Count(l => l.StartsWith("items{", StringComparison.Ordinal)));
    }
}
