using System.Text.Json;
using Pnh.Channels.Provider.Connections;
using Pnh.Channels.Provider.Payloads;
using Pnh.Core.Events;
using Pnh.Core.Push;
using Pnh.Core.Users;

namespace Pnh.Channels.WebPush;

/// <summary>Web Push to browsers: RFC 8030, encrypted by RFC 8291, authenticated by RFC 8292.</summary>
internal sealed class WebPushChannel : IPushChannel
{
    public const string ChannelName = IWebPushKeys.Channel;

    private readonly WebPushAccounts _accounts;
    private readonly EndpointNetwork _network;
    private readonly ProviderServices _services;

    public WebPushChannel(WebPushAccounts accounts, EndpointNetwork network, ProviderServices services)
    {
        _accounts = accounts;
        _network = network;
        _services = services;
    }

    public string Name => ChannelName;

    public void ReadAddresses(JsonElement section, DateTimeOffset now, ICollection<PushAddress> addresses, ICollection<FieldError> errors) =>
        WebPushAddress.Read(section, now, addresses, errors);

    public void WriteAddresses(Utf8JsonWriter section, IEnumerable<PushAddress> addresses) => WebPushAddress.Write(section, addresses);

    public PushAddress? Respell(PushAddress address) => address.Channel == ChannelName ? WebPushAddress.Respell(address) : null;

    /// <summary>Chrome subscribes to an address of <c>permanently-removed.invalid</c> when a page asks right behind its unsubscribing; a name below <c>invalid</c> never exists (RFC 6761 section 6.4).</summary>
    public FieldError? CheckAddress(string app, PushAddress address) =>
        PushSubscription.EndpointOf(address.Value) is not { } endpoint || _accounts.FindKey(app) is null ? null
        : endpoint.IdnHost.EndsWith(".invalid", StringComparison.OrdinalIgnoreCase)
            ? new FieldError("/endpoint", "endpoint-removed", "The browser gave an address that does not exist, as Chrome does right after unsubscribing. Let the page unsubscribe, wait a moment and subscribe again.")
        : _accounts.Find(app, endpoint) is null
            ? new FieldError("/endpoint", "endpoint-not-allowed", "The address is at a push service that the account's AllowedHosts does not name, so no push would go there.")
        : null;

    /// <summary>A service worker reads whatever it likes; only the size is the push service's.</summary>
    public void CheckOverride(ReadOnlyMemory<byte> json, EventClass @class, ICollection<FieldError> errors)
    {
        if (PayloadMerge.CheckOverride(json, errors) is not { } patch)
        {
            return;
        }

        PayloadMerge.RemoveNulls(patch, depth: int.MaxValue);
        if (PayloadMerge.Write(patch).Length > WebPushEncryption.MaxPlainBytes)
        {
            errors.Add(PayloadMerge.TooLong(WebPushEncryption.MaxPlainBytes));
        }
    }

    /// <summary>The device's one subscription, whatever the event.</summary>
    public PushAddress? SelectAddress(Device device, Event accepted)
    {
        foreach (var address in device.Addresses)
        {
            if (string.Equals(address.Channel, ChannelName, StringComparison.Ordinal))
            {
                return address;
            }
        }

        return null;
    }

    /// <summary>The lane to the endpoint's push service; null when the app has no account or does not know that host.</summary>
    public string? FindAccount(string app, PushAddress address) =>
        PushSubscription.EndpointOf(address.Value) is { } endpoint ? _accounts.Find(app, endpoint)?.Name : null;

    public IPushSender Open(string account, EventClass @class) => new WebPushSender(_accounts.Get(account), _network, _services);
}
