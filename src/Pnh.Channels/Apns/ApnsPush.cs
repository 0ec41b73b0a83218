using System.Globalization;
using Pnh.Channels.Net.Http;
using Pnh.Channels.Provider.Payloads;
using Pnh.Core.Events;

namespace Pnh.Channels.Apns;

/// <summary>
/// A push type with what Apple ties to it: topic suffix, size limit in bytes. One more type = one more value here. See Apple, "Sending notification
/// requests to APNs", table of apns-push-type.
/// </summary>
internal sealed class ApnsPushType
{
    public static readonly ApnsPushType Alert = new("alert", "", 4096);
    public static readonly ApnsPushType Background = new("background", "", 4096);
    public static readonly ApnsPushType Voip = new("voip", ".voip", 5120);
    public static readonly ApnsPushType LiveActivity = new("liveactivity", ".push-type.liveactivity", 4096);

    private ApnsPushType(string name, string topicSuffix, int maxPayloadBytes)
    {
        Name = name;
        TopicSuffix = topicSuffix;
        MaxPayloadBytes = maxPayloadBytes;
        Shape = "apns/" + name;
        Encode = state => ApnsPayload.Encode(this, state.Event, state.Locale);
    }

    public string Name { get; }

    public string TopicSuffix { get; }

    public int MaxPayloadBytes { get; }

    /// <summary>Key of the event's encodings.</summary>
    public string Shape { get; }

    /// <summary>Makes a body; one delegate per type, so that asking for a body allocates nothing.</summary>
    public Func<(Event Event, string? Locale), ApnsBody> Encode { get; }

    /// <summary>What suits the event on an address of this kind.</summary>
    public static ApnsPushType For(Event accepted, string addressKind) => addressKind switch
    {
        ApnsAddress.VoipToken => Voip,
        ApnsAddress.LiveActivityToken => LiveActivity,
        _ => accepted.Notification is not null || ApnsOverride.Of(accepted).IsVisible ? Alert : Background,
    };

    /// <summary>10 = at once, 5 = when it suits the battery. Apple refuses 10 on background.</summary>
    public string PriorityFor(Event accepted) => ReferenceEquals(this, Voip) ? "10" : AppleManner.Priority(accepted, isVisible: !ReferenceEquals(this, Background));
}

/// <summary>
/// <c>apns-expiration</c> in its three states: a time (store until then), now or never, and absent (Apple stores for up to 30 days, which
/// PNH never asks for, since every event has an end).
/// </summary>
/// <param name="Header">Epoch seconds, <c>0</c>, or null for no header.</param>
internal readonly record struct ApnsExpiration(string? Header)
{
    public static readonly ApnsExpiration Absent = new(null);
    public static readonly ApnsExpiration NowOrNever = new("0");

    public static ApnsExpiration At(DateTimeOffset time) => new(time.ToUnixTimeSeconds().ToString(CultureInfo.InvariantCulture));

    /// <summary>Of an event: a TTL of 0 is now or never.</summary>
    public static ApnsExpiration Of(Event accepted) => accepted.IsNowOrNever ? NowOrNever : At(accepted.ExpiresAt);
}

/// <summary>What all pushes of one event and type share: header values, and a body per language. Made once, kept by the event.</summary>
internal sealed class ApnsPush
{
    private readonly LocalizedBodies<ApnsBody> _bodies = new();
    private readonly ApnsBody? _only;

    private ApnsPush(ApnsPushType type, Event accepted)
    {
        Type = type;
        Priority = type.PriorityFor(accepted);
        Expiration = ApnsExpiration.Of(accepted);
        CollapseId = Provider.Payloads.CollapseId.Of(accepted);
    }

    private ApnsPush(ApnsBody body, ApnsExpiration expiration)
    {
        Type = ApnsPushType.Background;
        Priority = "5";
        Expiration = expiration;
        _only = body;
    }

    public ApnsPushType Type { get; }

    public string Priority { get; }

    public ApnsExpiration Expiration { get; }

    /// <summary>Null = none, on what clears.</summary>
    public string? CollapseId { get; }

    /// <summary>The event's push for an address of this kind.</summary>
    public static ApnsPush For(Event accepted, string addressKind)
    {
        var type = ApnsPushType.For(accepted, addressKind);
        return accepted.Encodings.GetOrAdd(type.Shape, (type, accepted), static state => new ApnsPush(state.type, state.accepted));
    }

    /// <summary>
    /// The push that clears an event. No collapse id: a background push replaces nothing on the screen, and with the event's own it could replace a newer event that
    /// still waits at APNs.
    /// </summary>
    public static ApnsPush ForClear(ApnsBody body, ApnsExpiration expiration) => new(body, expiration);

    /// <summary>The body in a device's language; a clear has one for all.</summary>
    public ApnsBody BodyFor(Event accepted, string? locale) => _only ?? _bodies.For(accepted, locale, Type.Encode);
}

/// <summary>An encoded payload, or why there is none.</summary>
/// <param name="Parts">UTF-8 JSON without a gap, shared by every request.</param>
/// <param name="Refusal">Reason in kebab-case; null = may be sent.</param>
internal sealed record ApnsBody(SplicedBody Parts, string? Refusal);
