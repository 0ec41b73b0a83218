using Pnh.Core.Users;

namespace Pnh.Storage.Registry;

/// <summary>
/// What a user weighs in the registry's cache: one, and one per device, with room for 512 bytes each (a key, a token of 160 characters, a Web Push
/// subscription); each 256 bytes of texts beyond that weigh one more. Else settings of 64 kB, which any client may store, would weigh nothing.
/// </summary>
internal static class UserWeight
{
    private const int RoomBytes = 512;
    private const int UnitBytes = 256;

    // An object's head, its length and end, and the reference to it.
    private const int StringBytes = 32;

    public static int Of(UserSnapshot user)
    {
        var settings = user.Settings;
        var bytes = Bytes(settings.MutedClasses) + Bytes(settings.MutedTopics);
        for (var i = 0; i < user.Devices.Count; i++)
        {
            bytes += Bytes(user.Devices[i]);
        }

        var units = 1 + user.Devices.Count;
        return units + (int)Math.Max(0, (bytes - ((long)units * RoomBytes)) / UnitBytes);
    }

    // Channel, kind, scope, locale and version are shared by many (TextPool).
    private static long Bytes(Device device)
    {
        var bytes = Bytes(device.Id);
        for (var i = 0; i < device.Addresses.Count; i++)
        {
            bytes += Bytes(device.Addresses[i].Value);
        }

        return bytes;
    }

    private static long Bytes(IReadOnlyList<string> texts)
    {
        var bytes = 0L;
        for (var i = 0; i < texts.Count; i++)
        {
            bytes += Bytes(texts[i]);
        }

        return bytes;
    }

    private static long Bytes(string text) => StringBytes + (sizeof(char) * (long)text.Length);
}
