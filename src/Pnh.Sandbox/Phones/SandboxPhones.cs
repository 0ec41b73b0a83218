using System.Collections.Concurrent;
using Pnh.Sandbox.Contract;

namespace Pnh.Sandbox.Phones;

/// <summary>The fake phones: one per address that was pushed to or named. Thread-safe.</summary>
public sealed class SandboxPhones
{
    private readonly ConcurrentDictionary<string, PhoneState> _phones = new(StringComparer.Ordinal);
    private readonly SandboxOptions _options;
    private int _count;
    private long _overflow;

    internal SandboxPhones(SandboxOptions options)
    {
        _options = options;
    }

    /// <summary>Raised with the address after a phone changed, on the request's thread: be quick, do not throw.</summary>
    public event Action<string>? Changed;

    /// <summary>Snapshots of all phones, in no order.</summary>
    public IReadOnlyList<Phone> All => [.. _phones.Values.Select(phone => phone.Snapshot())];

    /// <summary>Pushes accepted for addresses beyond <see cref="SandboxOptions.PhonesKept"/>: they reached no phone.</summary>
    public long Overflow => Interlocked.Read(ref _overflow);

    /// <summary>A snapshot of one phone; null when the address is unknown.</summary>
    public Phone? Find(string address) =>
        _phones.TryGetValue(address, out PhoneState? phone) || _phones.TryGetValue(AsToken(address), out phone) ? phone.Snapshot() : null;

    /// <summary>Gives an address a name, such as "Ada's iPhone"; addresses of one name are one phone's, so that a push to one clears what the other shows. The phone appears at once if it was unknown.</summary>
    /// <param name="address">APNs token, FCM token or FID, browser's name.</param>
    /// <param name="name">Shown in place of the address.</param>
    /// <param name="platform">Whose phone; null guesses until its first push: only hexadecimal digits is an iPhone.</param>
    public void Name(string address, string name, PhonePlatform? platform = null)
    {
        ArgumentException.ThrowIfNullOrEmpty(address);
        PhonePlatform guess = platform ?? (IsHex(address) ? PhonePlatform.Ios : PhonePlatform.Android);
        string key = guess == PhonePlatform.Ios && !_phones.ContainsKey(address) ? AsToken(address) : address;
        if (GetOrAdd(key, guess) is { } phone)
        {
            phone.Rename(name);
            Changed?.Invoke(key);
        }
    }

    internal void Arrive(ArrivedPush push)
    {
        if (GetOrAdd(push.Address, push.Platform) is not { } phone)
        {
            Interlocked.Increment(ref _overflow);
            return;
        }

        phone.Arrive(push, _options.NotificationsKept, _options.RequestsKept);
        if (push.Clears is { } clearing)
        {
            phone.Clear(clearing, push.Request.At, _options.NotificationsKept);
            ClearNamesakes(phone, clearing, push.Request.At);
        }

        Changed?.Invoke(push.Address);
    }

    /// <summary>
    /// One name = one phone with several addresses: the call that rang by its VoIP token is cleared through its device token, since no background push can go to
    /// the former.
    /// </summary>
    private void ClearNamesakes(PhoneState phone, Clearing clearing, DateTimeOffset at)
    {
        if (phone.Name is not { } name)
        {
            return;
        }

        foreach ((string address, PhoneState other) in _phones)
        {
            if (!ReferenceEquals(other, phone) && other.Name == name && other.Clear(clearing, at, _options.NotificationsKept))
            {
                Changed?.Invoke(address);
            }
        }
    }

    /// <summary>A device token in the one form we keep: hexadecimal digits in lower case.</summary>
    internal static string AsToken(string address) => address.ToLowerInvariant();

    private static bool IsHex(string address) => address.All(char.IsAsciiHexDigit);

    private PhoneState? GetOrAdd(string address, PhonePlatform platform)
    {
        if (_phones.TryGetValue(address, out PhoneState? known))
        {
            return known;
        }

        if (Volatile.Read(ref _count) >= _options.PhonesKept)
        {
            return null;
        }

        PhoneState fresh = new(address, platform);
        PhoneState phone = _phones.GetOrAdd(address, fresh);
        if (ReferenceEquals(phone, fresh))
        {
            Interlocked.Increment(ref _count);
        }

        return phone;
    }
}
