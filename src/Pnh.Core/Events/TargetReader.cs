using System.Numerics;

namespace Pnh.Core.Events;

/// <summary>Reads <c>to</c> and <c>except</c>.</summary>
internal static class TargetReader
{
    private const int UserBit = 0;
    private const int DeviceBit = 1;

    internal static EventTarget? ReadTarget(ref JsonCursor cursor)
    {
        if (!cursor.EnterObject("/to"))
        {
            return null;
        }

        EventTarget? target = null;
        var seen = 0u;
        while (cursor.NextMember(out var name))
        {
            if (name.SequenceEqual("user"u8))
            {
                cursor.Once(ref seen, 0, "/to/user");
                target = cursor.ReadName("/to/user") is { } user ? EventTarget.ToUser(user) : null;
            }
            else if (name.SequenceEqual("users"u8))
            {
                cursor.Once(ref seen, 1, "/to/users");
                target = ReadUsers(ref cursor);
            }
            else if (name.SequenceEqual("topic"u8))
            {
                cursor.Once(ref seen, 2, "/to/topic");
                target = cursor.ReadName("/to/topic") is { } topic ? EventTarget.ToTopic(topic) : null;
            }
            else if (name.SequenceEqual("device"u8))
            {
                cursor.Once(ref seen, 3, "/to/device");
                target = ReadDevice(ref cursor);
            }
            else
            {
                cursor.Unknown("/to", name);
            }
        }

        if (BitOperations.PopCount(seen) != 1)
        {
            cursor.Fail("/to", "exactly-one", "Give exactly one of user, users, topic, device.");
        }

        return target;
    }

    internal static Exclusions? ReadExclusions(ref JsonCursor cursor)
    {
        if (!cursor.EnterObject("/except"))
        {
            return null;
        }

        List<string> users = [], devices = [], sessions = [];
        var seen = 0u;
        while (cursor.NextMember(out var name))
        {
            if (name.SequenceEqual("users"u8))
            {
                cursor.Once(ref seen, 0, "/except/users");
                users = cursor.ReadNames("/except/users", Limits.ListEntries);
            }
            else if (name.SequenceEqual("devices"u8))
            {
                cursor.Once(ref seen, 1, "/except/devices");
                devices = cursor.ReadNames("/except/devices", Limits.ListEntries);
            }
            else if (name.SequenceEqual("sessions"u8))
            {
                cursor.Once(ref seen, 2, "/except/sessions");
                sessions = cursor.ReadNames("/except/sessions", Limits.ListEntries);
            }
            else
            {
                cursor.Unknown("/except", name);
            }
        }

        return new Exclusions(users, devices, sessions);
    }

    private static EventTarget? ReadUsers(ref JsonCursor cursor)
    {
        var before = cursor.ErrorCount;
        var users = cursor.ReadNames("/to/users", Limits.TargetUsers);
        if (users.Count == 0)
        {
            if (cursor.ErrorCount == before)
            {
                cursor.Fail("/to/users", "too-few", "At least one user.");
            }

            return null;
        }

        // Named twice counts once, in the order first named.
        return EventTarget.ToUsers([.. new HashSet<string>(users, StringComparer.Ordinal)]);
    }

    private static EventTarget? ReadDevice(ref JsonCursor cursor)
    {
        if (!cursor.EnterObject("/to/device"))
        {
            return null;
        }

        string? user = null, device = null;
        var seen = 0u;
        while (cursor.NextMember(out var name))
        {
            if (name.SequenceEqual("user"u8))
            {
                cursor.Once(ref seen, UserBit, "/to/device/user");
                user = cursor.ReadName("/to/device/user");
            }
            else if (name.SequenceEqual("device"u8))
            {
                cursor.Once(ref seen, DeviceBit, "/to/device/device");
                device = cursor.ReadName("/to/device/device");
            }
            else
            {
                cursor.Unknown("/to/device", name);
            }
        }

        Require(ref cursor, (seen & (1u << UserBit)) != 0, "/to/device/user");
        Require(ref cursor, (seen & (1u << DeviceBit)) != 0, "/to/device/device");
        return user is not null && device is not null ? EventTarget.ToDevice(user, device) : null;
    }

    private static void Require(ref JsonCursor cursor, bool seen, string pointer)
    {
        if (!seen)
        {
            cursor.Fail(pointer, "required", "The member is missing.");
        }
    }
}
