using System.Globalization;
using System.Text;
using System.Text.Json;
using System.Text.Json.Nodes;
using Pnh.Channels.Net.Http;
using Pnh.Channels.Provider.Payloads;
using Pnh.Core.Events;

namespace Pnh.Channels.Fcm;

/// <summary>
/// What all messages of one event to one kind of address share: a body per language with gaps for the address and for the TTL, which FCM
/// counts from when it gets the message. Made once, kept by the event.
/// </summary>
internal sealed class FcmPush
{
    // By form: one for each kind of address, with its collapse key and without.
    private static readonly Form[] Forms =
    [
        .. from isFid in (bool[])[false, true] from isCall in (bool[])[false, true] from isKeyless in (bool[])[false, true] select new Form(isFid, isCall, isKeyless),
    ];

    /// <summary>The event's body for an address of this kind in a device's language.</summary>
    /// <param name="accepted">The event.</param>
    /// <param name="addressKind">Of the address.</param>
    /// <param name="locale">The device's; null = none.</param>
    /// <param name="isKeyless">Without <c>collapse_key</c>, for a device that has too many.</param>
    public static FcmBody BodyFor(Event accepted, string addressKind, string? locale, bool isKeyless = false)
    {
        var isCall = accepted.Class == EventClass.Call && FcmAddress.TakesCallsAsData(addressKind);
        var form = Forms[(FcmAddress.IsFid(addressKind) ? 4 : 0) + (isCall ? 2 : 0) + (isKeyless ? 1 : 0)];
        return accepted.Encodings.GetOrAdd(form.Name, 0, static _ => new LocalizedBodies<FcmBody>()).For(accepted, locale, form.Encoder);
    }

    /// <summary>The body that clears a withdrawn event of this class at an address of this kind; it has no gap for a TTL.</summary>
    public static FcmBody ClearFor(Withdrawal withdrawal, EventClass @class, string addressKind, TimeProvider time)
    {
        var isFid = FcmAddress.IsFid(addressKind);
        return withdrawal.Encodings.GetOrAdd(
            isFid ? "fcm/clear/fid" : "fcm/clear/token",
            (withdrawal, @class, time, isFid),
            static state => Split(
                FcmClear.Compose(state.withdrawal, state.@class, state.time.GetUtcNow()), state.isFid ? FcmAddress.Fid : FcmAddress.Token));
    }

    /// <summary>What is left of the event's TTL, as digits for the gap; empty when the body has no such gap.</summary>
    public static string TtlFor(Event accepted, FcmBody body, DateTimeOffset now)
    {
        if (!body.HasTtlGap)
        {
            return "";
        }

        var left = (long)(accepted.ExpiresAt - now).TotalSeconds;
        return Math.Clamp(left, 0, (long)Limits.Ttl.TotalSeconds).ToString(CultureInfo.InvariantCulture);
    }

    private static FcmBody Encode(Event accepted, Form form, string? locale)
    {
        try
        {
            var notification = accepted.Notification?.For(locale);
            var message = FcmMessage.Compose(accepted, notification, PayloadParts.All, form.IsCall);
            var fault = FcmMessage.FindFault(message);
            return fault switch
            {
                null => Encode(message, form),
                FcmMessage.TooLarge when WakeUp(accepted, notification, form.IsCall) is { } less => AsWakeUp(Encode(less, form)),
                _ => FcmBody.Refused(fault),
            };
        }
        catch (JsonException)
        {
            return FcmBody.Refused("invalid-override");
        }
        catch (InvalidOperationException)
        {
            // Half a surrogate pair in an escape, which shows only when a name or a string is read.
            return FcmBody.Refused("invalid-text");
        }
    }

    private static JsonObject? WakeUp(Event accepted, Notification? notification, bool isCall)
    {
        return Fitting(PayloadParts.Override, notification) ?? FetchPush.Fit(notification, texts => Fitting(PayloadParts.Texts, texts));

        JsonObject? Fitting(PayloadParts parts, Notification? texts) =>
            FcmMessage.Compose(accepted, texts, parts, isCall) is var message && FcmMessage.FindFault(message) is null ? message : null;
    }

    private static FcmBody AsWakeUp(FcmBody body) => body with { Parts = body.Parts with { IsWakeUp = true } };

    private static FcmBody Encode(JsonObject message, Form form)
    {
        // The override may have named another than the event's.
        var key = message["android"]?["collapse_key"] is JsonValue value && value.TryGetValue<string>(out var text) ? text : null;
        if (form.IsKeyless && key is not null)
        {
            message["android"]!.AsObject().Remove("collapse_key");
            key = null;
        }

        return Split(message, form.IsFid ? FcmAddress.Fid : FcmAddress.Token) with { CollapseKey = key };
    }

    /// <summary><c>{"message":{"token":"</c> address <c>","android":{"ttl":"</c> TTL <c>s", rest of android}, rest of message}}</c>.</summary>
    private static FcmBody Split(JsonObject message, string kind)
    {
        var head = Encoding.ASCII.GetBytes($"{{\"message\":{{\"{kind}\":\"");
        if (message["android"] is not JsonObject android || android.ContainsKey("ttl"))
        {
            return new FcmBody(new SplicedBody(head, [], [.. "\""u8, .. Continue(message), .. "}"u8]), HasTtlGap: false, null);
        }

        message.Remove("android");
        return new FcmBody(
            new SplicedBody(head, [.. "\",\"android\":{\"ttl\":\""u8], [.. "s\""u8, .. Continue(android), .. Continue(message), .. "}"u8]),
            HasTtlGap: true,
            null);
    }

    /// <summary>The object's members as the continuation of an open one, closing brace included: <c>,"a":1}</c>, or <c>}</c> alone.</summary>
    private static byte[] Continue(JsonObject members)
    {
        var bytes = PayloadMerge.Write(members);
        if (members.Count == 0)
        {
            return [(byte)'}'];
        }

        bytes[0] = (byte)',';
        return bytes;
    }

    /// <summary>One form of an event's messages.</summary>
    private sealed class Form
    {
        public Form(bool isFid, bool isCall, bool isKeyless)
        {
            (IsFid, IsCall, IsKeyless) = (isFid, isCall, isKeyless);
            Name = $"fcm{(isKeyless ? "/keyless" : "")}{(isCall ? "/call" : "")}{(isFid ? "/fid" : "/token")}";
            Encoder = state => Encode(state.Event, this, state.Locale);
        }

        public bool IsFid { get; }

        /// <summary>A call as data.</summary>
        public bool IsCall { get; }

        public bool IsKeyless { get; }

        /// <summary>Under which the event keeps it.</summary>
        public string Name { get; }

        public Func<(Event Event, string? Locale), FcmBody> Encoder { get; }
    }
}

/// <summary>An encoded message with its gaps, or why there is none.</summary>
/// <param name="Parts">Shared by every request.</param>
/// <param name="HasTtlGap">False when the override gave a TTL of its own.</param>
/// <param name="Refusal">Reason in kebab-case; null = may be sent.</param>
internal sealed record FcmBody(SplicedBody Parts, bool HasTtlGap, string? Refusal)
{
    /// <summary><c>android.collapse_key</c>; null = none.</summary>
    public string? CollapseKey { get; init; }

    public static FcmBody Refused(string reason) => new(new SplicedBody([], [], []), HasTtlGap: false, reason);
}
