namespace Pnh.Sandbox.Apns;

/// <summary>A row of Apple's table of push types: what follows the bundle id in the topic, which priorities are allowed, how large a payload.</summary>
internal sealed record PushTypeHeader(string Name, string TopicSuffix, int[] Priorities, int MaxPayloadBytes = 4096, bool NeedsAps = false)
{
    private static readonly int[] Any = [10, 5, 1];

    private static readonly PushTypeHeader[] All =
    [
        new("alert", "", Any, NeedsAps: true),
        new("background", "", [5], NeedsAps: true),
        new("voip", ".voip", [10], MaxPayloadBytes: 5120),
        new("location", ".location-query", [10, 5]),
        new("complication", ".complication", Any),
        new("fileprovider", ".pushkit.fileprovider", Any),
        new("liveactivity", ".push-type.liveactivity", Any, NeedsAps: true),
        new("pushtotalk", ".voip-ptt", [10]),
        new("widgets", ".push-type.widgets", Any),
        new("controls", ".push-type.controls", Any),
    ];

    /// <summary>Null for an unknown type, and for <c>mdm</c>, which needs a certificate in place of a token.</summary>
    public static PushTypeHeader? Find(string name) => Array.Find(All, type => type.Name == name);

    /// <summary>The bundle id in a topic of this type; null when the topic belongs to another type.</summary>
    public string? BundleIdOf(string topic)
    {
        if (TopicSuffix.Length > 0)
        {
            return topic.EndsWith(TopicSuffix, StringComparison.Ordinal) ? topic[..^TopicSuffix.Length] : null;
        }

        return Array.Exists(All, other => other.TopicSuffix.Length > 0 && topic.EndsWith(other.TopicSuffix, StringComparison.Ordinal))
            ? null
            : topic;
    }
}
