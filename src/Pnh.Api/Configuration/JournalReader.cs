using Pnh.Storage.Segments;

namespace Pnh.Api.Configuration;

/// <summary>Reads <c>Pnh:Journal</c>.</summary>
internal static class JournalReader
{
    // An id must be known for as long as a publisher may repeat it: seconds are for tests, a quarter is more than any bill asks for.
    private static readonly TimeSpan ShortestRetention = TimeSpan.FromSeconds(1);
    private static readonly TimeSpan LongestRetention = TimeSpan.FromDays(92);
    private const int SmallestSegment = 256 * 1024;
    private const int LargestSegment = 1024 * 1024 * 1024;

    /// <summary>The section over the engine's defaults.</summary>
    public static JournalOptions Read(IConfigurationSection section, ConfigurationErrors errors)
    {
        var reader = new SectionReader(section, errors);
        var defaults = new JournalOptions();
        var options = defaults with
        {
            Retention = reader.Duration("Retention", LongestRetention) ?? defaults.Retention,
            SegmentBytes = reader.Number("SegmentBytes", SmallestSegment, LargestSegment, defaults.SegmentBytes),
            MaxBytes = reader.Number("MaxBytes", 1, long.MaxValue),
            OnDamage = ReadPolicy(reader),
            OnForeignRegistry = ReadForeignRegistry(reader),
        };
        if (options.Retention < ShortestRetention)
        {
            reader.Error("Retention", $"must be at least {ShortestRetention:c}");
        }

        // The one that is written and the one that is done with: with fewer, nothing could ever be removed.
        if (options.MaxBytes < 2L * options.SegmentBytes)
        {
            reader.Error("MaxBytes", "must be at least twice Pnh:Journal:SegmentBytes");
        }

        return options;
    }

    private static DamagePolicy ReadPolicy(SectionReader reader)
    {
        switch (reader.Text("OnDamage")?.ToLowerInvariant())
        {
            case null or "refuse":
                return DamagePolicy.Refuse;
            case "quarantine":
                return DamagePolicy.Quarantine;
            default:
                reader.Error("OnDamage", "must be refuse or quarantine");
                return DamagePolicy.Refuse;
        }
    }

    private static ForeignRegistryPolicy ReadForeignRegistry(SectionReader reader)
    {
        switch (reader.Text("OnForeignRegistry")?.ToLowerInvariant())
        {
            case null or "refuse":
                return ForeignRegistryPolicy.Refuse;
            case "accept":
                return ForeignRegistryPolicy.Accept;
            default:
                reader.Error("OnForeignRegistry", "must be refuse or accept");
                return ForeignRegistryPolicy.Refuse;
        }
    }
}
