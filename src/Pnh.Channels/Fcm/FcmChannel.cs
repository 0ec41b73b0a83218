using System.Collections.Concurrent;
using System.Security.Cryptography;
using System.Text.Json;
using Pnh.Channels.Provider.Connections;
using Pnh.Channels.Provider.Sender;
using Pnh.Core.Events;
using Pnh.Core.Push;
using Pnh.Core.Users;

namespace Pnh.Channels.Fcm;

/// <summary>Firebase Cloud Messaging, HTTP v1, over HTTP/2.</summary>
internal sealed class FcmChannel : IPushChannel
{
    public const string ChannelName = "fcm";

    private readonly FcmAccounts _accounts;
    private readonly ProviderServices _services;
    private readonly ConcurrentDictionary<string, AddressStanding> _standings = new(StringComparer.Ordinal);

    public FcmChannel(FcmAccounts accounts, ProviderServices services)
    {
        _accounts = accounts;
        _services = services;
    }

    public string Name => ChannelName;

    public void ReadAddresses(JsonElement section, DateTimeOffset now, ICollection<PushAddress> addresses, ICollection<FieldError> errors) =>
        FcmAddress.Read(section, now, addresses, errors);

    public void WriteAddresses(Utf8JsonWriter section, IEnumerable<PushAddress> addresses) => FcmAddress.Write(section, addresses);

    public void CheckOverride(ReadOnlyMemory<byte> json, EventClass @class, ICollection<FieldError> errors) => FcmOverrideCheck.Check(json, errors);

    /// <summary>The device's one FCM address, whatever the event.</summary>
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

    public string? FindAccount(string app, PushAddress address) => _accounts.Find(app, address.Scope)?.Name;

    public IEnumerable<(string App, PushAddress Address)> MakeUpAddresses() => _accounts.All.Select(account => (account.App, new PushAddress(
        ChannelName, FcmAddress.Token, $"{RandomNumberGenerator.GetHexString(22)}:APA91b{RandomNumberGenerator.GetHexString(134)}", account.Project, _services.Time.GetUtcNow())));

    public IPushSender Open(string account, EventClass @class) => new FcmSender(
        _accounts.Get(account), _standings.GetOrAdd(account, static (_, time) => new AddressStanding(time), _services.Time), _services);
}
