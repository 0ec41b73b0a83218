using System.Text.Json;
using System.Text.Json.Nodes;
using Pnh.Channels.Provider.Payloads;
using Pnh.Core.Events;

namespace Pnh.Channels.Apns;

/// <summary>What the publisher's raw <c>apns</c> override changes about the kind of push; read once per event. Immutable.</summary>
internal sealed class ApnsOverride
{
    private const string Shape = "apns/override";

    private static readonly ApnsOverride None = new();

    /// <summary>False when the override is no JSON object, repeats a member or has a name that is not valid Unicode.</summary>
    public bool IsValid { get; private init; } = true;

    /// <summary>It carries an ActivityKit update (<c>aps.event</c> with <c>aps.content-state</c>, or <c>start</c>/<c>end</c>).</summary>
    public bool IsLiveActivity { get; private init; }

    /// <summary>It shows or plays something (<c>aps.alert</c>, <c>sound</c>, <c>badge</c>) by itself.</summary>
    public bool IsVisible { get; private init; }

    /// <summary>The event's, made when first asked for.</summary>
    public static ApnsOverride Of(Event accepted) =>
        accepted.Overrides?.ContainsKey(ApnsChannel.ChannelName) == true
            ? accepted.Encodings.GetOrAdd(Shape, accepted, static accepted => Read(accepted))
            : None;

    private static ApnsOverride Read(Event accepted)
    {
        try
        {
            var aps = PayloadMerge.ReadOverride(accepted, ApnsChannel.ChannelName)?["aps"] as JsonObject;
            return new ApnsOverride
            {
                IsLiveActivity = aps?["event"] is JsonValue,
                IsVisible = aps is not null && (aps["alert"] ?? aps["sound"] ?? aps["badge"]) is not null,
            };
        }
        catch (Exception fault) when (fault is JsonException or InvalidOperationException)
        {
            return new ApnsOverride { IsValid = false };
        }
    }
}
