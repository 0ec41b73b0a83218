using System.Security.Cryptography;
using System.Text;
using Pnh.Core.Push;

namespace Pnh.Channels.Apns;

/// <summary>
/// The <c>apns-id</c> of a delivery: a UUID (version 8, RFC 9562 section 5.8) hashed from app, event, user, device and address kind. The same for every
/// attempt, even after a restart, and another one per device, which the event's own id would not be. Pure.
/// </summary>
internal static class ApnsId
{
    /// <summary>Longer ones than nearly all: six texts of 128 characters may take 2,310 bytes.</summary>
    private const int StackBytes = 768;

    public static string Of(Delivery delivery)
    {
        var (app, id, user, device, kind) = (delivery.Event.App, delivery.Event.Id, delivery.User.User, delivery.Device.Id, delivery.Address!.Kind);

        // What clears the event is another notification than the one that showed it.
        var clear = delivery.Withdrawal is null ? "" : "clear";
        var most = (3 * (app.Length + id.Length + user.Length + device.Length + kind.Length + clear.Length)) + 6;
        var text = most <= StackBytes ? stackalloc byte[StackBytes] : new byte[most];
        var length = 0;
        Append(app, text, ref length);
        Append(id, text, ref length);
        Append(user, text, ref length);
        Append(device, text, ref length);
        Append(kind, text, ref length);
        if (clear.Length > 0)
        {
            Append(clear, text, ref length);
        }

        Span<byte> digest = stackalloc byte[SHA256.HashSizeInBytes];
        SHA256.HashData(text[..length], digest);
        digest[6] = (byte)((digest[6] & 0x0F) | 0x80);
        digest[8] = (byte)((digest[8] & 0x3F) | 0x80);

        // Canonical form: lower case, with hyphens, as APNs wants it.
        return new Guid(digest[..16], bigEndian: true).ToString("D");
    }

    /// <summary>A zero byte ends each, since none may contain one.</summary>
    private static void Append(string part, Span<byte> text, ref int length)
    {
        length += Encoding.UTF8.GetBytes(part, text[length..]);
        text[length++] = 0;
    }
}
