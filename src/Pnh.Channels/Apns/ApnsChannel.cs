using System.Collections.Concurrent;
using System.Security.Cryptography;
using System.Text.Json;
using Pnh.Channels.Provider.Connections;
using Pnh.Channels.Provider.Sender;
using Pnh.Core.Events;
using Pnh.Core.Push;
using Pnh.Core.Users;

namespace Pnh.Channels.Apns;

/// <summary>Apple Push Notification service over HTTP/2 with token authentication.</summary>
internal sealed class ApnsChannel : IPushChannel
{
    public const string ChannelName = "apns";

    private readonly ApnsAccounts _accounts;
    private readonly ProviderServices _services;
    private readonly ConcurrentDictionary<string, AddressStanding> _standings = new(StringComparer.Ordinal);
    private readonly TrunkTable<ApnsTrunkKey> _trunks = new();

    public ApnsChannel(ApnsAccounts accounts, ProviderServices services)
    {
        _accounts = accounts;
        _services = services;
    }

    public string Name => ChannelName;

    public void ReadAddresses(JsonElement section, DateTimeOffset now, ICollection<PushAddress> addresses, ICollection<FieldError> errors) =>
        ApnsAddress.Read(section, now, addresses, errors);

    public void WriteAddresses(Utf8JsonWriter section, IEnumerable<PushAddress> addresses) => ApnsAddress.Write(section, addresses);

    public void CheckOverride(ReadOnlyMemory<byte> json, EventClass @class, ICollection<FieldError> errors) => ApnsOverrideCheck.Check(json, @class, errors);

    /// <summary>
    /// A call rings through the VoIP token where there is one; a live activity's update goes to its own token; everything else, and a call
    /// without VoIP, to the app's token. Never a message to a VoIP token: iOS ends an app that is woken without a call.
    /// </summary>
    public PushAddress? SelectAddress(Device device, Event accepted)
    {
        PushAddress? token = null, voip = null, activity = null;
        foreach (var address in device.Addresses)
        {
            if (!string.Equals(address.Channel, ChannelName, StringComparison.Ordinal))
            {
                continue;
            }

            switch (address.Kind)
            {
                case ApnsAddress.Token:
                    token = address;
                    break;
                case ApnsAddress.VoipToken:
                    voip = address;
                    break;
                case ApnsAddress.LiveActivityToken:
                    activity = address;
                    break;
            }
        }

        if (accepted.Overrides is not null && ApnsOverride.Of(accepted).IsLiveActivity)
        {
            return activity;
        }

        return accepted.Class == EventClass.Call ? voip ?? token : token;
    }

    public string? FindAccount(string app, PushAddress address) => _accounts.Find(app, address.Scope)?.Name;

    public IEnumerable<(string App, PushAddress Address)> MakeUpAddresses() => _accounts.All.Select(account => (account.App, new PushAddress(
        ChannelName, ApnsAddress.Token, RandomNumberGenerator.GetHexString(64, lowercase: true), ApnsAddress.Scope(account.Environment, account.Topic), _services.Time.GetUtcNow())));

    public IPushSender Open(string account, EventClass @class) => new ApnsSender(
        _accounts.Get(account), @class, _trunks, _standings.GetOrAdd(account, static (_, time) => new AddressStanding(time), _services.Time), _services);
}
