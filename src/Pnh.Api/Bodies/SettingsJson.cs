using System.Globalization;
using System.Text.Json;
using Pnh.Core.Events;
using Pnh.Core.Users;

namespace Pnh.Api.Bodies;

/// <summary>A user's settings as JSON, both ways.</summary>
internal static class SettingsJson
{
    private const uint AllOfQuietHours = 0b111;

    internal static UserSettings? Read(ReadOnlyMemory<byte> body, ICollection<FieldError> errors) => ObjectBody.Read(body, errors, ReadMembers);

    internal static void Write(Utf8JsonWriter json, UserSettings settings)
    {
        json.WriteStartObject();
        WriteNames(json, "mutedClasses", settings.MutedClasses);
        WriteNames(json, "mutedTopics", settings.MutedTopics);
        if (settings.QuietHours is { } quiet)
        {
            json.WriteStartObject("quietHours");
            json.WriteString("from", quiet.From.ToString("HH:mm", CultureInfo.InvariantCulture));
            json.WriteString("to", quiet.To.ToString("HH:mm", CultureInfo.InvariantCulture));
            json.WriteString("timeZone", quiet.TimeZone);
            json.WriteEndObject();
        }

        if (settings.DoNotDisturbUntil is { } until)
        {
            json.WriteString("doNotDisturbUntil", until);
        }

        if (settings.Mode == QuietMode.Drop)
        {
            json.WriteString("mode", "drop");
        }

        json.WriteEndObject();
    }

    /// <summary>An RFC 3339 time; null with an error when the text is no time.</summary>
    internal static DateTimeOffset? ReadTime(ref JsonCursor cursor, string pointer)
    {
        if (cursor.ReadString(pointer, 40) is not { } text)
        {
            return null;
        }

        if (DateTimeOffset.TryParse(text, CultureInfo.InvariantCulture, DateTimeStyles.AssumeUniversal, out var time) && text.Contains('T', StringComparison.Ordinal))
        {
            return time;
        }

        cursor.Fail(pointer, "invalid-time", "An RFC 3339 time such as 2026-01-31T22:00:00Z.");
        return null;
    }

    private static UserSettings ReadMembers(ref JsonCursor cursor)
    {
        var settings = UserSettings.Default;
        var seen = 0u;
        while (cursor.NextMember(out var name))
        {
            settings = ReadMember(ref cursor, name, ref seen, settings);
        }

        cursor.LeaveBody();
        return settings;
    }

    private static UserSettings ReadMember(ref JsonCursor cursor, ReadOnlySpan<byte> name, ref uint seen, UserSettings settings)
    {
        if (name.SequenceEqual("mutedClasses"u8))
        {
            cursor.Once(ref seen, 0, "/mutedClasses");
            return settings with { MutedClasses = ReadClasses(ref cursor) };
        }

        if (name.SequenceEqual("mutedTopics"u8))
        {
            cursor.Once(ref seen, 1, "/mutedTopics");
            return settings with { MutedTopics = cursor.ReadNames("/mutedTopics", Limits.TargetUsers) };
        }

        if (name.SequenceEqual("quietHours"u8))
        {
            cursor.Once(ref seen, 2, "/quietHours");
            return settings with { QuietHours = ReadQuietHours(ref cursor) };
        }

        if (name.SequenceEqual("doNotDisturbUntil"u8))
        {
            cursor.Once(ref seen, 3, "/doNotDisturbUntil");
            return settings with { DoNotDisturbUntil = ReadTime(ref cursor, "/doNotDisturbUntil") };
        }

        if (name.SequenceEqual("mode"u8))
        {
            cursor.Once(ref seen, 4, "/mode");
            return settings with { Mode = ReadMode(ref cursor) };
        }

        cursor.Unknown("", name);
        return settings;
    }

    private static QuietMode ReadMode(ref JsonCursor cursor)
    {
        var text = cursor.ReadString("/mode", 8);
        if (text is not (null or "hold" or "drop"))
        {
            cursor.Fail("/mode", "unknown-value", "hold or drop.");
        }

        return text == "drop" ? QuietMode.Drop : QuietMode.Hold;
    }

    private static List<string> ReadClasses(ref JsonCursor cursor)
    {
        var names = cursor.ReadNames("/mutedClasses", Limits.ListEntries);
        foreach (var name in names)
        {
            if (!EventClassNames.TryParse(name, out _))
            {
                cursor.Fail("/mutedClasses", "unknown-value", "Classes are call, message, bulk, transient.");
                break;
            }
        }

        return names;
    }

    private static QuietHours? ReadQuietHours(ref JsonCursor cursor)
    {
        if (!cursor.EnterObject("/quietHours"))
        {
            return null;
        }

        TimeOnly? from = null, to = null;
        string? zone = null;
        var seen = 0u;
        while (cursor.NextMember(out var name))
        {
            if (name.SequenceEqual("from"u8))
            {
                cursor.Once(ref seen, 0, "/quietHours/from");
                from = ReadClock(ref cursor, "/quietHours/from");
            }
            else if (name.SequenceEqual("to"u8))
            {
                cursor.Once(ref seen, 1, "/quietHours/to");
                to = ReadClock(ref cursor, "/quietHours/to");
            }
            else if (name.SequenceEqual("timeZone"u8))
            {
                cursor.Once(ref seen, 2, "/quietHours/timeZone");
                zone = ReadZone(ref cursor);
            }
            else
            {
                cursor.Unknown("/quietHours", name);
            }
        }

        if (seen != AllOfQuietHours)
        {
            cursor.Fail("/quietHours", "required", "Needs from, to (HH:mm) and timeZone (an IANA name).");
        }

        return from is null || to is null || zone is null ? null : new QuietHours(from.Value, to.Value, zone);
    }

    private static TimeOnly? ReadClock(ref JsonCursor cursor, string pointer)
    {
        var text = cursor.ReadString(pointer, 8);
        if (text is not null && !TimeOnly.TryParseExact(text, "HH:mm", CultureInfo.InvariantCulture, DateTimeStyles.None, out _))
        {
            cursor.Fail(pointer, "invalid-time", "A time of day such as 22:00.");
            return null;
        }

        return text is null ? null : TimeOnly.ParseExact(text, "HH:mm", CultureInfo.InvariantCulture);
    }

    private static string? ReadZone(ref JsonCursor cursor)
    {
        var zone = cursor.ReadString("/quietHours/timeZone", 64);
        if (zone is not null && TimeZones.Find(zone) is null)
        {
            cursor.Fail("/quietHours/timeZone", "unknown-value", "An IANA time zone such as Europe/Berlin.");
            return null;
        }

        return zone;
    }

    private static void WriteNames(Utf8JsonWriter json, string member, IReadOnlyList<string> names)
    {
        if (names.Count == 0)
        {
            return;
        }

        json.WriteStartArray(member);
        foreach (var name in names)
        {
            json.WriteStringValue(name);
        }

        json.WriteEndArray();
    }
}
