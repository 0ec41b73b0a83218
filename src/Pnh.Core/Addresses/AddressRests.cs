using System.Collections.Concurrent;
using Microsoft.Extensions.Logging;
using Pnh.Core.Journal;
using Pnh.Core.Push;
using Pnh.Core.Stores;

namespace Pnh.Core.Addresses;

/// <summary>
/// What a provider's answers mean for addresses: a dead one is removed. Keeps a mistake in an account (its topic, environment or project) from emptying the registry. When a provider calls many addresses of an account bad at once, those <i>rest</i>: they stay, and get no push, but for
/// one a minute that looks whether the mistake is mended. When the provider takes that one, all of the account's are released. Kept over a restart. Thread-safe.
/// </summary>
public sealed partial class AddressRests
{
    /// <summary>Why a push to such an address fails unasked.</summary>
    public const string Reason = "address-rests";

    /// <summary>The feed's words.</summary>
    public const string Rested = "rested";

    /// <summary>The other one: it gets pushes again.</summary>
    public const string Released = "released";

    private const string Dead = "dead";
    private static readonly TimeSpan ProbeEvery = TimeSpan.FromMinutes(1);
    private readonly ConcurrentDictionary<(string Channel, string Account), AccountRest> _accounts = new();
    private readonly IDeviceStore _devices;
    private readonly IEventJournal _journal;
    private readonly TimeProvider _time;
    private readonly ILogger _log;

    /// <summary>Knows nothing before <see cref="LoadAsync"/>.</summary>
    public AddressRests(IDeviceStore devices, IEventJournal journal, TimeProvider time, ILogger log) => (_devices, _journal, _time, _log) = (devices, journal, time, log);

    /// <summary>The accounts of which addresses rest now, how many, why, and since when the oldest of them.</summary>
    public IReadOnlyList<(string Channel, string Account, int Count, string? Reason, DateTimeOffset Since)> Read()
    {
        var all = new List<(string, string, int, string?, DateTimeOffset)>();
        foreach (var (key, account) in _accounts.OrderBy(static one => one.Key))
        {
            if (account.IsAny)
            {
                var (count, reason, since) = account.Read();
                all.Add((key.Channel, key.Account, count, reason, since));
            }
        }

        return all;
    }

    /// <summary>How many addresses of a channel rest now.</summary>
    public long CountOf(string channel) => _accounts.Where(one => one.Key.Channel == channel).Sum(static one => (long)one.Value.Read().Count);

    /// <summary>How many were laid to rest since the start.</summary>
    public long RestedOf(string channel) => _accounts.Where(one => one.Key.Channel == channel).Sum(static one => one.Value.Rested);

    /// <summary>What rested when the process before ended. Once, before the first push.</summary>
    public async Task LoadAsync(CancellationToken cancellationToken)
    {
        foreach (var resting in await _devices.FindRestingAddressesAsync(cancellationToken).ConfigureAwait(false))
        {
            AccountOf(resting.Address.Channel, resting.Account).Rest(resting);
        }
    }

    /// <summary>Ends the rest of an account's addresses: the operator's word, or the provider took one. How many there were.</summary>
    public async Task<int> ReleaseAsync(string channel, string account, CancellationToken cancellationToken)
    {
        var released = AccountOf(channel, account).TakeAll();
        await _devices.ReleaseAddressesAsync(channel, account, cancellationToken).ConfigureAwait(false);
        foreach (var resting in released)
        {
            Note(resting, Released);
        }

        if (released.Count > 0)
        {
            Log.Released(_log, channel, account, released.Count);
        }

        return released.Count;
    }

    /// <summary>Removes an account's resting addresses from their devices, as dead. How many there were.</summary>
    public async Task<int> DropAsync(string channel, string account, CancellationToken cancellationToken)
    {
        var dropped = 0;
        foreach (var resting in AccountOf(channel, account).TakeAll())
        {
            dropped += await RemoveAsync(resting, resting.At, cancellationToken).ConfigureAwait(false) ? 1 : 0;
        }

        await _devices.ReleaseAddressesAsync(channel, account, cancellationToken).ConfigureAwait(false);
        return dropped;
    }

    /// <summary>True = this push must not be sent: its address rests, and another one looked within the minute.</summary>
    internal bool Holds(string channel, string account, Delivery delivery) =>
        _accounts.TryGetValue((channel, account), out var known) && known.IsAny && known.Holds(delivery, ProbeEvery);

    /// <summary>Takes an answer of the provider into account; gives what it means for the address.</summary>
    internal DeliveryResult Judge(string channel, string account, Delivery delivery, in DeliveryResult result)
    {
        if (result.IsUnasked || result.Status is DeliveryStatus.Expired or DeliveryStatus.Unavailable or DeliveryStatus.NotConnected)
        {
            return result;
        }

        var known = AccountOf(channel, account);
        if (result.Status != DeliveryStatus.AddressDead)
        {
            if (known.Count(delivery, isAccepted: result.Status == DeliveryStatus.Accepted))
            {
                _ = ReleaseSafelyAsync(channel, account);
            }

            return result;
        }

        var bad = new RestingAddress(delivery.User, delivery.Device.Id, delivery.Address!, account, result.Reason, _time.GetUtcNow());
        if (!result.MayBeAccounts)
        {
            known.Count(delivery, isAccepted: false);
            _ = RemoveSafelyAsync(bad, result.DeadSince);
            return result;
        }

        if (!known.CountBad(bad, out var isFirst, out var isNew))
        {
            _ = RemoveSafelyAsync(bad, result.DeadSince);
            return result;
        }

        if (isFirst)
        {
            var (all, refused) = known.LastMinute;
            Log.Resting(_log, channel, account, refused, all, result.Reason);
        }

        if (isNew)
        {
            _ = KeepAsync(bad);
        }

        return result with { Status = DeliveryStatus.Rejected, DeadSince = null };
    }

    private AccountRest AccountOf(string channel, string account) => _accounts.GetOrAdd((channel, account), static (_, time) => new AccountRest(time), _time);

    private void Note(RestingAddress resting, string health) => _journal.NoteAddress(new(
        resting.User.App, resting.User.User, resting.Device, resting.Address.Channel, health, resting.Reason, _time.GetUtcNow()));

    // Not removed: confirmed since, replaced, or moved to another device. Then nobody lost an address, and the feed says nothing.
    private async Task<bool> RemoveAsync(RestingAddress bad, DateTimeOffset deadSince, CancellationToken cancellationToken)
    {
        var isRemoved = await _devices.RemoveAddressAsync(bad.User, bad.Device, bad.Address, deadSince, bad.Reason, cancellationToken).ConfigureAwait(false);
        if (isRemoved)
        {
            Note(bad, Dead);
        }

        return isRemoved;
    }

    private async Task RemoveSafelyAsync(RestingAddress bad, DateTimeOffset? deadSince)
    {
        try
        {
            await RemoveAsync(bad, deadSince ?? bad.Address.RegisteredAt, CancellationToken.None).ConfigureAwait(false);
        }
        catch (Exception fault)
        {
            // Not lost: the next push to it is refused again and removes it then.
            Log.AddressStays(_log, bad.Address.Channel, bad.User.App, fault.Message);
        }
    }

    private async Task KeepAsync(RestingAddress resting)
    {
        try
        {
            Note(resting, Rested);
            await _devices.RestAddressAsync(resting, CancellationToken.None).ConfigureAwait(false);
        }
        catch (StoreUnavailableException fault)
        {
            // It rests until the process ends; the next one is refused once more, and then it rests again.
            Log.NotKept(_log, resting.Address.Channel, resting.Account, fault.Message);
        }
    }

    private async Task ReleaseSafelyAsync(string channel, string account)
    {
        try
        {
            await ReleaseAsync(channel, account, CancellationToken.None).ConfigureAwait(false);
        }
        catch (StoreUnavailableException fault)
        {
            // The next start lets them rest once more, and the first that is taken releases them.
            Log.NotKept(_log, channel, account, fault.Message);
        }
    }

    private static partial class Log
    {
        [LoggerMessage(1, LogLevel.Error, "The provider called {Bad} of the last minute's {All} pushes of {Channel} account {Account} bad addresses ({Reason}). Such addresses rest: its topic, environment or project may be wrong. One a minute is tried; when it is taken, all get pushes again. pnh addresses shows, releases or drops them.", EventName = "AddressesRest")]
        internal static partial void Resting(ILogger logger, string channel, string account, int bad, int all, string? reason);

        [LoggerMessage(2, LogLevel.Information, "{Count} addresses of {Channel} account {Account} that rested get pushes again.", EventName = "AddressesReleased")]
        internal static partial void Released(ILogger logger, string channel, string account, int count);

        [LoggerMessage(4, LogLevel.Warning, "A dead {Channel} address of app {App} could not be removed yet: {Fault}", EventName = "AddressStays")]
        internal static partial void AddressStays(ILogger logger, string channel, string app, string fault);

        [LoggerMessage(3, LogLevel.Warning, "Which addresses of {Channel} account {Account} rest could not be written: {Fault}", EventName = "RestNotKept")]
        internal static partial void NotKept(ILogger logger, string channel, string account, string fault);
    }
}
