using System.Text.Json;
using Pnh.Channels.Http;
using Pnh.Core.Deliveries;
using Pnh.Core.Devices;
using Pnh.Core.Events;

namespace Pnh.Channels.WebPush;

/// <summary>Web Push to browsers: RFC 8030, encrypted by RFC 8291, authenticated by RFC 8292.</summary>
internal sealed class WebPushChannel : IPushChannel
{
    public const string ChannelName = "webpush";

    private readonly WebPushAccounts _accounts;
    private readonly ResolveHost _resolve;
    private readonly ProviderServices _services;

    public WebPushChannel(WebPushAccounts accounts, ResolveHost resolve, ProviderServices services)
    {
        _accounts = accounts;
        _resolve = resolve;
        _services = services;
    }

    public string Name => ChannelName;

    public void ReadAddresses(JsonElement section, DateTimeOffset now, ICollection<PushAddress> addresses, ICollection<FieldError> errors) =>
        WebPushAddress.Read(section, now, addresses, errors);

    public void WriteAddresses(Utf8JsonWriter section, IEnumerable<PushAddress> addresses) => WebPushAddress.Write(section, addresses);

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

    public IPushSender Open(string account, EventClass @class) => new WebPushSender(_accounts.Get(account), _resolve, _services);
}
