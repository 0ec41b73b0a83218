using System.Text.Json;
using Pnh.Channels.Provider.Payloads;
using Pnh.Core.Events;
using Pnh.Core.Users;

namespace Pnh.Channels.WebPush;

/// <summary>
/// The <c>webpush</c> section of a device: what <c>PushSubscription.toJSON()</c> gives, <c>{"endpoint","expirationTime","keys":{"p256dh","auth"}}</c>.
/// The expiration time is taken and left aside: the push service says itself when a subscription is gone. Pure functions.
/// </summary>
internal static class WebPushAddress
{
    public const string Subscription = "subscription";

    /// <summary>The scope of an address in the one spelling; those of before had none.</summary>
    private const string Spelled = "canonical";

    public static void Read(JsonElement section, DateTimeOffset now, ICollection<PushAddress> addresses, ICollection<FieldError> errors) =>
        DeviceSection.Read(section, now, addresses, errors, ReadMembers);

    public static void Write(Utf8JsonWriter section, IEnumerable<PushAddress> addresses)
    {
        foreach (var address in addresses)
        {
            var (endpoint, p256dh, auth) = PushSubscription.Split(address.Value);
            section.WriteString("endpoint", endpoint);
            section.WriteStartObject("keys");
            section.WriteString("p256dh", p256dh);
            section.WriteString("auth", auth);
            section.WriteEndObject();
        }
    }

    /// <summary>An address that an older build kept as it came, in the one spelling; null = it has it, or is no subscription.</summary>
    public static PushAddress? Respell(PushAddress address)
    {
        if (address.Scope == Spelled)
        {
            return null;
        }

        var subscription = PushSubscription.Parse(address.Value);
        return address with { Value = subscription?.Join() ?? address.Value, Scope = Spelled };
    }

    private static void ReadMembers(JsonElement section, DateTimeOffset now, ICollection<PushAddress> addresses, ICollection<FieldError> errors)
    {
        if (section.ValueKind != JsonValueKind.Object)
        {
            errors.Add(new FieldError("", "wrong-type", "Must be an object with endpoint and keys."));
            return;
        }

        var before = errors.Count;
        RefuseUnknown(section, "", errors, "endpoint", "expirationTime", "keys");
        var endpoint = Text(section, "", "endpoint", errors);
        var (p256dh, auth) = ReadKeys(section, errors);
        if (endpoint is not null && PushEndpoint.Parse(endpoint) is null)
        {
            errors.Add(new FieldError("/endpoint", "invalid-address", "Must be an https address of at most 2048 characters, without user, password or fragment."));
        }

        if (p256dh is not null && !PushSubscription.IsPublicKey(p256dh))
        {
            errors.Add(new FieldError("/keys/p256dh", "invalid-key", "Must be base64 of an uncompressed P-256 point (65 bytes)."));
        }

        if (auth is not null && !PushSubscription.IsSecret(auth))
        {
            errors.Add(new FieldError("/keys/auth", "invalid-key", "Must be base64 of 16 bytes."));
        }

        if (errors.Count == before && PushSubscription.Read(endpoint!, p256dh!, auth!) is { } subscription)
        {
            addresses.Add(new PushAddress(WebPushChannel.ChannelName, Subscription, subscription.Join(), Spelled, now));
        }
    }

    private static (string? P256dh, string? Auth) ReadKeys(JsonElement section, ICollection<FieldError> errors)
    {
        if (!section.TryGetProperty("keys", out var keys) || keys.ValueKind != JsonValueKind.Object)
        {
            errors.Add(new FieldError("/keys", keys.ValueKind == JsonValueKind.Undefined ? "required" : "wrong-type", "Must be an object with p256dh and auth."));
            return (null, null);
        }

        DeviceSection.RefuseTwice(keys, "/keys", errors);
        RefuseUnknown(keys, "/keys", errors, "p256dh", "auth");
        return (Text(keys, "/keys", "p256dh", errors), Text(keys, "/keys", "auth", errors));
    }

    private static void RefuseUnknown(JsonElement parent, string pointer, ICollection<FieldError> errors, params ReadOnlySpan<string> known)
    {
        foreach (var member in parent.EnumerateObject())
        {
            if (!known.Contains(member.Name))
            {
                errors.Add(DeviceSection.Unknown(pointer, member.Name, "a push subscription"));
            }
        }
    }

    private static string? Text(JsonElement parent, string pointer, string name, ICollection<FieldError> errors)
    {
        if (!parent.TryGetProperty(name, out var value))
        {
            errors.Add(new FieldError($"{pointer}/{name}", "required", "Is missing."));
            return null;
        }

        if (value.ValueKind != JsonValueKind.String)
        {
            errors.Add(new FieldError($"{pointer}/{name}", "wrong-type", "Must be a string."));
            return null;
        }

        return value.GetString();
    }
}
