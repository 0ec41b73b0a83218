using Pnh.Api.Bodies;
using Pnh.Core.Events;
using Pnh.Core.Hubs;

namespace Pnh.Api.Endpoints;

/// <summary>The body of <c>POST /v1/inbox/ack</c>.</summary>
/// <param name="Device">Which device has them.</param>
/// <param name="Ids">1 to <see cref="Inbox.MostItems"/> event ids.</param>
internal sealed record InboxAck(string Device, IReadOnlyList<string> Ids)
{
    // 100 ids of 64 characters are 7 kB.
    internal const int BodyBytes = 16 * 1024;

    /// <summary>Null with its errors when the body is not right.</summary>
    internal static InboxAck? Read(ReadOnlyMemory<byte> body, List<FieldError> errors) => ObjectBody.Read(body, errors, ReadMembers);

    private static InboxAck? ReadMembers(ref JsonCursor cursor)
    {
        string? device = null;
        List<string> ids = [];
        var seen = 0u;
        while (cursor.NextMember(out var name))
        {
            if (name.SequenceEqual("device"u8))
            {
                cursor.Once(ref seen, 0, "/device");
                device = cursor.ReadName("/device");
            }
            else if (name.SequenceEqual("ids"u8))
            {
                cursor.Once(ref seen, 1, "/ids");
                ids = ReadIds(ref cursor);
            }
            else
            {
                cursor.Unknown("", name);
            }
        }

        cursor.LeaveBody();
        if ((seen & 1) == 0)
        {
            cursor.Fail("/device", "required", "Say which device of yours has them.");
        }

        if ((seen & 2) == 0)
        {
            cursor.Fail("/ids", "required", "Say which events the device has.");
        }

        return cursor.ErrorCount == 0 ? new InboxAck(device!, ids) : null;
    }

    private static List<string> ReadIds(ref JsonCursor cursor)
    {
        var before = cursor.ErrorCount;
        var ids = cursor.ReadEventIds("/ids", Inbox.MostItems);
        if (ids.Count == 0 && cursor.ErrorCount == before)
        {
            cursor.Fail("/ids", "too-few", "At least one event id.");
        }

        return ids;
    }
}
