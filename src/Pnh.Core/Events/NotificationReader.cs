using System.Text;
using System.Text.Json;

namespace Pnh.Core.Events;

/// <summary>Reads <c>notification</c>.</summary>
internal static class NotificationReader
{
    // Longer than any provider's whole payload, so the size check that names the provider comes first.
    private const int TextCharacters = 8_192;
    private const int WordCharacters = 256;
    private const int AddressCharacters = 2_048;
    private const int MostArguments = 20;

    internal static Notification? Read(ref JsonCursor cursor)
    {
        if (!cursor.EnterObject("/notification"))
        {
            return null;
        }

        var result = new Notification();
        var seen = 0u;
        while (cursor.NextMember(out var name))
        {
            if (name.SequenceEqual("title"u8))
            {
                cursor.Once(ref seen, 0, "/notification/title");
                result = result with { Title = cursor.ReadString("/notification/title", TextCharacters) };
            }
            else if (name.SequenceEqual("body"u8))
            {
                cursor.Once(ref seen, 1, "/notification/body");
                result = result with { Body = cursor.ReadString("/notification/body", TextCharacters) };
            }
            else if (name.SequenceEqual("subtitle"u8))
            {
                cursor.Once(ref seen, 2, "/notification/subtitle");
                result = result with { Subtitle = cursor.ReadString("/notification/subtitle", TextCharacters) };
            }
            else if (name.SequenceEqual("sound"u8))
            {
                cursor.Once(ref seen, 3, "/notification/sound");
                result = result with { Sound = cursor.ReadString("/notification/sound", WordCharacters) };
            }
            else if (name.SequenceEqual("badge"u8))
            {
                cursor.Once(ref seen, 4, "/notification/badge");
                result = result with { Badge = cursor.ReadInt32("/notification/badge", 0, 1_000_000) };
            }
            else if (name.SequenceEqual("image"u8))
            {
                cursor.Once(ref seen, 5, "/notification/image");
                result = result with { Image = ReadImage(ref cursor) };
            }
            else if (name.SequenceEqual("category"u8))
            {
                cursor.Once(ref seen, 6, "/notification/category");
                result = result with { Category = cursor.ReadString("/notification/category", WordCharacters) };
            }
            else if (name.SequenceEqual("thread"u8))
            {
                cursor.Once(ref seen, 7, "/notification/thread");
                result = result with { Thread = cursor.ReadString("/notification/thread", WordCharacters) };
            }
            else if (name.SequenceEqual("locales"u8))
            {
                cursor.Once(ref seen, 8, "/notification/locales");
                result = result with { Locales = ReadLocales(ref cursor) };
            }
            else if (!ReadManner(ref cursor, name, ref seen, ref result))
            {
                cursor.Unknown("/notification", name);
            }
        }

        if (result.TitleKey is null && result.TitleArgs.Count > 0)
        {
            cursor.Fail("/notification/titleArgs", "not-allowed", "Arguments are for a titleKey.");
        }

        if (result.BodyKey is null && result.BodyArgs.Count > 0)
        {
            cursor.Fail("/notification/bodyArgs", "not-allowed", "Arguments are for a bodyKey.");
        }

        if (result.Volume is not null && result.Interruption != Interruption.Critical)
        {
            cursor.Fail("/notification/volume", "not-allowed", "A volume is for the interruption critical alone.");
        }

        return result;
    }

    // How it is shown, apart from its texts.
    private static bool ReadManner(ref JsonCursor cursor, ReadOnlySpan<byte> name, ref uint seen, ref Notification result)
    {
        if (name.SequenceEqual("channel"u8))
        {
            cursor.Once(ref seen, 9, "/notification/channel");
            result = result with { Channel = cursor.ReadString("/notification/channel", WordCharacters) };
        }
        else if (name.SequenceEqual("interruption"u8))
        {
            cursor.Once(ref seen, 10, "/notification/interruption");
            result = result with { Interruption = ReadInterruption(ref cursor) };
        }
        else if (name.SequenceEqual("volume"u8))
        {
            cursor.Once(ref seen, 11, "/notification/volume");
            result = result with { Volume = cursor.ReadShare("/notification/volume") };
        }
        else if (name.SequenceEqual("relevance"u8))
        {
            cursor.Once(ref seen, 12, "/notification/relevance");
            result = result with { Relevance = cursor.ReadShare("/notification/relevance") };
        }
        else if (name.SequenceEqual("mutable"u8))
        {
            cursor.Once(ref seen, 13, "/notification/mutable");
            result = result with { IsMutable = cursor.ReadBoolean("/notification/mutable") };
        }
        else if (name.SequenceEqual("link"u8))
        {
            cursor.Once(ref seen, 14, "/notification/link");
            result = result with { Link = cursor.ReadString("/notification/link", AddressCharacters) };
        }
        else if (!ReadKeys(ref cursor, name, ref seen, ref result))
        {
            return false;
        }

        return true;
    }

    // Texts that the app itself has.
    private static bool ReadKeys(ref JsonCursor cursor, ReadOnlySpan<byte> name, ref uint seen, ref Notification result)
    {
        if (name.SequenceEqual("titleKey"u8))
        {
            cursor.Once(ref seen, 15, "/notification/titleKey");
            result = result with { TitleKey = cursor.ReadString("/notification/titleKey", WordCharacters) };
        }
        else if (name.SequenceEqual("titleArgs"u8))
        {
            cursor.Once(ref seen, 16, "/notification/titleArgs");
            result = result with { TitleArgs = ReadArguments(ref cursor, "/notification/titleArgs") };
        }
        else if (name.SequenceEqual("bodyKey"u8))
        {
            cursor.Once(ref seen, 17, "/notification/bodyKey");
            result = result with { BodyKey = cursor.ReadString("/notification/bodyKey", WordCharacters) };
        }
        else if (name.SequenceEqual("bodyArgs"u8))
        {
            cursor.Once(ref seen, 18, "/notification/bodyArgs");
            result = result with { BodyArgs = ReadArguments(ref cursor, "/notification/bodyArgs") };
        }
        else
        {
            return false;
        }

        return true;
    }

    private static string[] ReadArguments(ref JsonCursor cursor, string pointer)
    {
        if (cursor.ReadElement(pointer) is not { } list)
        {
            return [];
        }

        if (list.ValueKind != JsonValueKind.Array || list.EnumerateArray().Any(static one => one.ValueKind != JsonValueKind.String))
        {
            cursor.Fail(pointer, "wrong-type", "Must be an array of strings.");
            return [];
        }

        if (list.GetArrayLength() > MostArguments)
        {
            cursor.Fail(pointer, "too-many", $"At most {MostArguments} entries.");
            return [];
        }

        return [.. list.EnumerateArray().Select(static one => one.GetString()!)];
    }

    private static Interruption? ReadInterruption(ref JsonCursor cursor)
    {
        if (cursor.ReadString("/notification/interruption", 32) is not { } word)
        {
            return null;
        }

        var interruption = PushWords.ParseInterruption(word);
        if (interruption is null)
        {
            cursor.Fail("/notification/interruption", "unknown-value", "One of passive, active, time-sensitive, critical.");
        }

        return interruption;
    }

    private static string? ReadImage(ref JsonCursor cursor)
    {
        var image = cursor.ReadString("/notification/image", AddressCharacters);
        if (image is not null && !(Uri.TryCreate(image, UriKind.Absolute, out var address) && address.Scheme == Uri.UriSchemeHttps))
        {
            cursor.Fail("/notification/image", "invalid-address", "An absolute https address.");
            return null;
        }

        return image;
    }

    private static Dictionary<string, LocalizedText>? ReadLocales(ref JsonCursor cursor)
    {
        if (!cursor.EnterObject("/notification/locales"))
        {
            return null;
        }

        var locales = new Dictionary<string, LocalizedText>(StringComparer.OrdinalIgnoreCase);
        while (cursor.NextMember(out var name))
        {
            var locale = Encoding.UTF8.GetString(name);
            if (locale.Length is < 2 or > 35)
            {
                cursor.Unknown("/notification/locales", name);
                continue;
            }

            var pointer = cursor.PointerTo("/notification/locales", name);
            if (!locales.TryAdd(locale, ReadText(ref cursor, pointer)))
            {
                cursor.Fail(pointer, "duplicate-member", "The member is given twice.");
            }
        }

        if (locales.Count > Limits.Locales)
        {
            cursor.Fail("/notification/locales", "too-many", $"At most {Limits.Locales} locales.");
        }

        return locales;
    }

    private static LocalizedText ReadText(ref JsonCursor cursor, string pointer)
    {
        var text = new LocalizedText(null, null, null);
        var seen = 0u;
        if (!cursor.EnterObject(pointer))
        {
            return text;
        }

        while (cursor.NextMember(out var name))
        {
            var member = cursor.PointerTo(pointer, name);
            if (name.SequenceEqual("title"u8))
            {
                cursor.Once(ref seen, 0, member);
                text = text with { Title = cursor.ReadString(member, TextCharacters) };
            }
            else if (name.SequenceEqual("subtitle"u8))
            {
                cursor.Once(ref seen, 1, member);
                text = text with { Subtitle = cursor.ReadString(member, TextCharacters) };
            }
            else if (name.SequenceEqual("body"u8))
            {
                cursor.Once(ref seen, 2, member);
                text = text with { Body = cursor.ReadString(member, TextCharacters) };
            }
            else
            {
                cursor.Unknown(pointer, name);
            }
        }

        return text;
    }
}
