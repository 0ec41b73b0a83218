using System.Text.Json.Nodes;
using Pnh.Channels.Net.Http;
using Pnh.Channels.Provider.Payloads;
using Pnh.Core.Events;
using Pnh.Core.Push;
using Pnh.Core.Users;

namespace Pnh.Channels.Apns;

/// <summary>
/// The push that clears a withdrawn event: a background push, since APNs itself cannot take back what a phone shows; the app removes it. Pure, but for the
/// time that its end is counted from.
/// </summary>
internal static class ApnsClear
{
    /// <summary>Why nothing was sent: the device has no token that a background push can go to.</summary>
    public const string NotClearable = "not-clearable";

    private const string Shape = "apns/clear";

    /// <summary>After an hour nobody waits for a ring to end any more, and a phone that was off that long shows its app's own state when it is opened.</summary>
    private static readonly TimeSpan Life = TimeSpan.FromHours(1);

    /// <summary>
    /// Where it goes: the app's token beside the address that showed the event, as a background push goes neither to a VoIP token (iOS demands a call for each)
    /// nor to a live activity's. Null = there is none, so nothing to clear by.
    /// </summary>
    public static PushAddress? AddressOf(Delivery delivery)
    {
        var shown = delivery.Address!;
        if (string.Equals(shown.Kind, ApnsAddress.Token, StringComparison.Ordinal))
        {
            return shown;
        }

        foreach (var address in delivery.Device.Addresses)
        {
            if (string.Equals(address.Channel, ApnsChannel.ChannelName, StringComparison.Ordinal)
                && string.Equals(address.Kind, ApnsAddress.Token, StringComparison.Ordinal)
                && string.Equals(address.Scope, shown.Scope, StringComparison.Ordinal))
            {
                return address;
            }
        }

        return null;
    }

    /// <summary>The withdrawal's push, made when first asked for; its hour begins then.</summary>
    public static ApnsPush For(Withdrawal withdrawal, TimeProvider time) =>
        withdrawal.Encodings.GetOrAdd(
            Shape, (withdrawal, time), static state => ApnsPush.ForClear(Encode(state.withdrawal), ApnsExpiration.At(state.time.GetUtcNow() + Life)));

    private static ApnsBody Encode(Withdrawal withdrawal)
    {
        var payload = new JsonObject
        {
            ["aps"] = new JsonObject { ["content-available"] = 1 },
            ["pnh"] = new JsonObject { ["id"] = withdrawal.Event, ["reason"] = withdrawal.Reason },
            ["pnh-id"] = withdrawal.Event,
            ["pnh-withdraw"] = withdrawal.Event,
            ["pnh-reason"] = withdrawal.Reason,
        };
        return new ApnsBody(SplicedBody.Whole(PayloadMerge.Write(payload)), Refusal: null);
    }
}
