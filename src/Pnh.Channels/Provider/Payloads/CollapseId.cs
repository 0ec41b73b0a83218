using System.Buffers.Text;
using System.Security.Cryptography;
using System.Text;
using Pnh.Core.Events;

namespace Pnh.Channels.Provider.Payloads;

/// <summary><c>apns-collapse-id</c>, at most 64 bytes: the same for a push straight to Apple and for one that goes to an iPhone through FCM, so that one replaces the other. Pure.</summary>
internal static class CollapseId
{
    /// <summary>The event's collapse key, of 64 bytes at most (checked when the event was taken in); without one its id, so that a copy replaces the first instead of being shown beside it.</summary>
    public static string Of(Event accepted) => string.IsNullOrEmpty(accepted.CollapseKey) ? accepted.Id : AsHeader(accepted.CollapseKey);

    /// <summary>A header carries printable ASCII only; any other key is hashed, which tells keys apart just as well.</summary>
    private static string AsHeader(string key) =>
        key.AsSpan().ContainsAnyExceptInRange('!', '~') ? Base64Url.EncodeToString(SHA256.HashData(Encoding.UTF8.GetBytes(key))) : key;
}
