using System.Globalization;
using System.Text;
using Prometheus;

namespace Pnh.Core.Tests.Diagnostics;

/// <summary>A page as a scraper sees it.</summary>
internal sealed class Scrape
{
    private Scrape(string text) => Text = text;

    public string Text { get; }

    public IEnumerable<string> Lines => Text.Split('\n', StringSplitOptions.RemoveEmptyEntries);

    public static Scrape Of(CollectorRegistry registry, ExpositionFormat format = ExpositionFormat.PrometheusText)
    {
        using var page = new MemoryStream();
        var written = registry.CollectAndExportAsTextAsync(page, format);
        Assert.True(written.IsCompletedSuccessfully); // memory takes it at once
        return new Scrape(Encoding.UTF8.GetString(page.ToArray()));
    }

    /// <summary>The value of the one sample with exactly this name and labels; null when there is none.</summary>
    public double? Find(string series)
    {
        var line = Lines.SingleOrDefault(l => l.StartsWith(series + " ", StringComparison.Ordinal));
        return line is null ? null : double.Parse(line[(series.Length + 1)..], CultureInfo.InvariantCulture);
    }
}
