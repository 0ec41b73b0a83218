using System.Security.Cryptography;
using System.Text;
using Pnh.Core.Deliveries;

namespace Pnh.Channels.Apns;

/// <summary>
/// The <c>apns-id</c> of a delivery: a UUID (version 8, RFC 9562 section 5.8) hashed from app, event, user, device and address kind. The same for every
/// attempt, even after a restart, and another one per device, which the event's own id would not be. Pure.
/// </summary>
internal static class ApnsId
{
    public static string Of(Delivery delivery)
    {
        using var hash = IncrementalHash.CreateHash(HashAlgorithmName.SHA256);
        Append(hash, delivery.Event.App);
        Append(hash, delivery.Event.Id);
        Append(hash, delivery.User.User);
        Append(hash, delivery.Device.Id);
        Append(hash, delivery.Address!.Kind);
        if (delivery.Withdrawal is not null)
        {
            // What clears the event is another notification than the one that showed it.
            Append(hash, "clear");
        }

        Span<byte> digest = stackalloc byte[SHA256.HashSizeInBytes];
        hash.GetHashAndReset(digest);
        digest[6] = (byte)((digest[6] & 0x0F) | 0x80);
        digest[8] = (byte)((digest[8] & 0x3F) | 0x80);

        // Canonical form: lower case, with hyphens, as APNs wants it.
        return new Guid(digest[..16], bigEndian: true).ToString("D");
    }

    private static void Append(IncrementalHash hash, string text)
    {
        // Ids have at most 128 characters, so at most 512 bytes; a zero byte ends each, since none may contain one.
        Span<byte> bytes = stackalloc byte[(4 * 128) + 1];
        var length = Encoding.UTF8.GetBytes(text, bytes);
        bytes[length] = 0;
        hash.AppendData(bytes[..(length + 1)]);
    }
}
