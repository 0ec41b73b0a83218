using System.Security.Cryptography;
using System.Text;
using Pnh.Core.Users;
using Pnh.Sandbox.Phones;

namespace Pnh.Api.WebConsole;

/// <summary>The sandbox's addresses as the phones that the page draws: addresses of one name are one phone, an address without a name is one of its own.</summary>
internal static class PhoneShelf
{
    /// <summary>The named first, by name; at most <see cref="ConsoleSnapshot.MaxPhones"/>.</summary>
    public static IReadOnlyList<ConsolePhone> Arrange(IReadOnlyList<Phone> addresses) =>
    [
        .. addresses
            .OrderBy(static phone => phone.Address, StringComparer.Ordinal)
            .GroupBy(static phone => (phone.Name, Address: phone.Name is null ? phone.Address : null))
            .OrderBy(static group => group.First().Name is null)
            .ThenBy(static group => group.First().Name, StringComparer.Ordinal)
            .ThenBy(static group => group.First().Address, StringComparer.Ordinal)
            .Take(ConsoleSnapshot.MaxPhones)
            .Select(static group => Draw([.. group])),
    ];

    private static ConsolePhone Draw(IReadOnlyList<Phone> addresses) => new(
        KeyOf(addresses[0]),
        addresses[0].Name ?? CaptionOf(addresses[0]),
        PlatformOf(addresses[0]),
        addresses.Sum(static phone => phone.Received),
        [
            .. addresses.SelectMany(static phone => phone.LockScreen)
                .OrderByDescending(static shown => shown.At)
                .Select(static shown => new LockScreenItem(shown.EventId, shown.Title, shown.Body, shown.PushType, shown.Priority, shown.At)),
        ]);

    // The address itself stays here; captions of two addresses may be equal, hashes are not. Only for what is drawn: a sandbox knows thousands of addresses.
    private static string KeyOf(Phone phone) => phone.Name is { } name
        ? $"name {name}"
        : $"address {Convert.ToHexStringLower(SHA256.HashData(Encoding.UTF8.GetBytes(phone.Address)).AsSpan(0, 8))}";

    // A browser's address is a name already; the others' are long and say nothing.
    private static string CaptionOf(Phone phone) => phone.Platform == PhonePlatform.Browser
        ? phone.Address
        : $"{(phone.Platform == PhonePlatform.Ios ? "iPhone" : "Android")} …{phone.Address[^Math.Min(6, phone.Address.Length)..]}";

    private static Platform PlatformOf(Phone phone) => phone.Platform switch
    {
        PhonePlatform.Ios => Platform.Ios,
        PhonePlatform.Browser => Platform.Web,
        _ => Platform.Android,
    };
}
