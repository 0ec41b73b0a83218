using System.Buffers.Text;
using System.Globalization;
using System.Security.Cryptography;
using System.Text;
using Pnh.Channels.WebPush;
using Pnh.Core.Stores;
using Pnh.Core.Users;

namespace Pnh.Api.Access;

/// <summary>
/// Keys by which a service worker replaces its browser's Web Push subscription while no tab is open: each good for one subscription of one device, and for nothing else. <c>r1.{whose}.{mac}</c>, both in base64url; no hub keeps
/// them. They end with the app's VAPID key, as the subscriptions themselves do. Thread-safe.
/// </summary>
internal sealed class RenewalKeys(IWebPushKeys keys, TimeProvider time)
{
    private const string Prefix = "r1";
    private const int FingerprintBytes = 16;
    private const int MostCharacters = 2_048;

    /// <summary>For the device's subscription; null = it has none, or the app has no Web Push account.</summary>
    public string? Make(UserKey user, Device device)
    {
        if (SubscriptionOf(device) is not { } subscription)
        {
            return null;
        }

        var at = time.GetUtcNow().ToUnixTimeMilliseconds().ToString(CultureInfo.InvariantCulture);
        byte[] whose = Encoding.UTF8.GetBytes(string.Join('\n', user.App, user.User, device.Id, at, FingerprintOf(subscription)));
        return keys.FindMac(user.App, whose) is { } mac ? $"{Prefix}.{Base64Url.EncodeToString(whose)}.{Base64Url.EncodeToString(mac)}" : null;
    }

    /// <summary>Null = it is no key of this hub, or the app's VAPID key is another one by now.</summary>
    public RenewalKey? Read(ReadOnlySpan<char> text)
    {
        if (text.Length > MostCharacters || text.ToString().Split('.') is not [Prefix, var first, var second])
        {
            return null;
        }

        try
        {
            var whose = Base64Url.DecodeFromChars(first);
            return Encoding.UTF8.GetString(whose).Split('\n') is [var app, var user, var device, var at, var fingerprint]
                && keys.FindMac(app, whose) is { } mac && CryptographicOperations.FixedTimeEquals(mac, Base64Url.DecodeFromChars(second))
                ? new RenewalKey(new UserKey(app, user), device, DateTimeOffset.FromUnixTimeMilliseconds(long.Parse(at, CultureInfo.InvariantCulture)), fingerprint)
                : null;
        }
        catch (FormatException)
        {
            return null;
        }
    }

    /// <summary>
    /// True when the device may have this subscription in place of the key's: it has that one, or the push service called that one dead since and there is no other. True also when it has this one already.
    /// </summary>
    public static bool Opens(RenewalKey key, Device device, PushAddress renewed, IReadOnlyList<RemovedAddress> removed) => SubscriptionOf(device) is { } subscription
        ? FingerprintOf(subscription) == key.Subscription || subscription.Value == renewed.Value
        : removed.Any(one => one.Device == device.Id && one.Channel == IWebPushKeys.Channel && one.Reason != RemovedAddress.Moved && one.At >= key.At);

    /// <summary>The device's Web Push subscription; null = it has none.</summary>
    public static PushAddress? SubscriptionOf(Device device) => device.Addresses.FirstOrDefault(static address => address.Channel == IWebPushKeys.Channel);

    private static string FingerprintOf(PushAddress subscription) => Base64Url.EncodeToString(SHA256.HashData(Encoding.UTF8.GetBytes(subscription.Value)).AsSpan(0, FingerprintBytes));
}

/// <summary>A renewal key that this hub made.</summary>
/// <param name="User">Whose.</param>
/// <param name="Device">Which device.</param>
/// <param name="At">When it was made.</param>
/// <param name="Subscription">The fingerprint of its subscription.</param>
internal sealed record RenewalKey(UserKey User, string Device, DateTimeOffset At, string Subscription);
