using System.Text.Json;
using System.Text.Json.Nodes;
using Pnh.Channels.Provider.Payloads;
using Pnh.Core.Events;
using Pnh.Core.Push;

namespace Pnh.Channels.WebPush;

/// <summary>
/// What a service worker reads: flat JSON with the neutral notification in the device's language, and the publisher's data as sent but for white space. The raw
/// override is merged last, member by member. Plain text here, made once per event and language; only its encryption is per device.
/// </summary>
internal static class WebPushPayload
{
    // Firefox on Android takes some 2,850 of a body, and its limit is written nowhere.
    private const int SmallBytes = 2048;

    private static readonly Func<(Event Event, string? Locale), WebPushBody> EncodeEvent = static state => Encode(state.Event, state.Locale, site: null);

    /// <summary>The delivery's plain text for a browser that must show something for each push: no body that shows nothing, and what clears is shown in place of the event.</summary>
    /// <param name="delivery">Of an event, or what clears one.</param>
    /// <param name="clearText">What is shown in place of a cleared event; null = nothing may be, so it cannot be cleared.</param>
    /// <param name="site">As in <see cref="Of"/>.</param>
    public static WebPushBody OfVisible(Delivery delivery, string? clearText, Uri? site)
    {
        if (delivery.Withdrawal is not { } withdrawal)
        {
            var body = Of(delivery, site);
            return body is { Refusal: null, ShowsNothing: true } ? new WebPushBody([], ApplePush.ShowsNothing) : body;
        }

        return clearText is null
            ? new WebPushBody([], ApplePush.NotClearable)
            : withdrawal.Encodings.GetOrAdd(
                "webpush/replace", (withdrawal, delivery.Event, clearText, site), static state => Fitting(Replace(state.withdrawal, state.Event, state.clearText, state.site))!); // short: a line and two ids
    }

    /// <summary>The delivery's plain text.</summary>
    /// <param name="delivery">Of an event, or what clears one.</param>
    /// <param name="site">The page that a click opens, for a browser that shows a push without a service worker; null = it does not, or none is configured.</param>
    public static WebPushBody Of(Delivery delivery, Uri? site) =>
        delivery.Withdrawal is { } withdrawal
            ? withdrawal.Encodings.GetOrAdd("webpush/clear", withdrawal, static state => new WebPushBody(PayloadMerge.Write(Clear(state)), null))
            : delivery.Event.Encodings
                .GetOrAdd(site is null ? "webpush" : "webpush/declared", 0, static _ => new LocalizedBodies<WebPushBody>())
                .For(delivery.Event, delivery.Device.Locale, site is null ? EncodeEvent : state => Encode(state.Event, state.Locale, site));

    private static WebPushBody Encode(Event accepted, string? locale, Uri? site)
    {
        try
        {
            var notification = accepted.Notification?.For(locale);
            return (site is null ? null : Fitting(Declared(Compose(accepted, notification, locale, PayloadParts.All), site)))
                ?? Fitting(Compose(accepted, notification, locale, PayloadParts.All))
                ?? WakeUp(accepted, notification, locale, WebPushEncryption.MaxPlainBytes)
                ?? new WebPushBody([], WebPushResponse.TooLarge);
        }
        catch (JsonException)
        {
            return new WebPushBody([], "invalid-override");
        }
        catch (InvalidOperationException)
        {
            // Half a surrogate pair in an escape, which shows only when a name or a string is read.
            return new WebPushBody([], "invalid-text");
        }
    }

    /// <summary>What goes to a browser whose push service found the event too large, though RFC 8030 lets it not. Of an event, which was encoded once already.</summary>
    public static WebPushBody OfSmall(Delivery delivery) => delivery.Event.Encodings
        .GetOrAdd("webpush/small", 0, static _ => new LocalizedBodies<WebPushBody>())
        .For(delivery.Event, delivery.Device.Locale, static state =>
            WakeUp(state.Event, state.Event.Notification?.For(state.Locale), state.Locale, SmallBytes) ?? new WebPushBody([], WebPushResponse.TooLarge));

    private static WebPushBody? WakeUp(Event accepted, Notification? notification, string? locale, int mostBytes)
    {
        var body = Fitting(Compose(accepted, notification, locale, PayloadParts.Override), mostBytes)
            ?? FetchPush.Fit(notification, texts => Fitting(Compose(accepted, texts, locale, PayloadParts.Texts), mostBytes));
        return body is null ? null : body with { IsWakeUp = true };
    }

    // Null = larger than a push service takes.
    private static WebPushBody? Fitting(JsonObject payload, int mostBytes = WebPushEncryption.MaxPlainBytes) => PayloadMerge.Write(payload) is var bytes && bytes.Length <= mostBytes
        ? new WebPushBody(bytes, Refusal: null) { ShowsNothing = DeclarativePush.Text(payload, "title") is null && DeclarativePush.Text(payload, "body") is null, IsDeclared = DeclarativePush.IsDeclared(payload) }
        : null;

    private static JsonObject Compose(Event accepted, Notification? notification, string? locale, PayloadParts parts)
    {
        var payload = new JsonObject { ["id"] = accepted.Id, ["class"] = accepted.Class.Label() };
        if (notification is not null)
        {
            Set(payload, "title", notification.Title);
            Set(payload, "subtitle", notification.Subtitle);
            Set(payload, "body", notification.Body);
            Set(payload, "sound", notification.Sound);
            Set(payload, "image", notification.Image);
            Set(payload, "category", notification.Category);
            Set(payload, "thread", notification.Thread);
            Set(payload, "link", notification.Link);
            Set(payload, "channel", notification.Channel);
            Set(payload, "interruption", notification.Interruption?.Label());
            if (notification.Interruption == Interruption.Passive)
            {
                payload["silent"] = true;
            }

            if (notification.Badge is { } badge)
            {
                payload["badge"] = badge;
            }

            Set(payload, "locale", locale);
        }

        // Shown under one tag, a newer notification replaces the older, and a copy the first, on the screen too, not only in the push service.
        Set(payload, "tag", TagOf(accepted));
        Set(payload, "traceparent", accepted.TraceParent);
        if (parts != PayloadParts.All || accepted.IsIdsOnly)
        {
            payload[FetchPush.Member] = true;
        }
        else if (PayloadMerge.ReadData(accepted) is { } data)
        {
            payload["data"] = data;
        }

        if (parts != PayloadParts.Texts && PayloadMerge.ReadOverride(accepted, WebPushChannel.ChannelName) is { } patch)
        {
            PayloadMerge.Apply(payload, patch, depth: int.MaxValue);
        }

        return payload;
    }

    private static JsonObject Declared(JsonObject payload, Uri site)
    {
        DeclarativePush.Declare(payload, site);
        return payload;
    }

    private static JsonObject Clear(Withdrawal withdrawal) => new()
    {
        ["id"] = withdrawal.Event,
        ["pnh-withdraw"] = withdrawal.Event,
        ["pnh-reason"] = withdrawal.Reason,
    };

    private static JsonObject Replace(Withdrawal withdrawal, Event accepted, string text, Uri? site)
    {
        var payload = new JsonObject
        {
            ["id"] = withdrawal.Event,
            ["pnh-replace"] = withdrawal.Event,
            ["pnh-reason"] = withdrawal.Reason,
            ["title"] = text,
            ["tag"] = TagOf(accepted),
            ["silent"] = true,
        };
        return site is null ? payload : Declared(payload, site);
    }

    private static string TagOf(Event accepted) => string.IsNullOrEmpty(accepted.CollapseKey) ? accepted.Id : accepted.CollapseKey;

    private static void Set(JsonObject target, string name, string? value)
    {
        if (!string.IsNullOrEmpty(value))
        {
            target[name] = value;
        }
    }
}

/// <summary>A plain text, or why there is none.</summary>
/// <param name="Bytes">UTF-8.</param>
/// <param name="Refusal">Reason in kebab-case; null = may be sent.</param>
internal sealed record WebPushBody(byte[] Bytes, string? Refusal)
{
    /// <summary>It stands for one that is larger than a push service takes.</summary>
    public bool IsWakeUp { get; init; }

    /// <summary>A browser may show it without a service worker.</summary>
    public bool IsDeclared { get; init; }

    /// <summary>It has neither title nor body.</summary>
    public bool ShowsNothing { get; init; }
}
