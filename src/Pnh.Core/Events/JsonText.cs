using System.Text.Json;

namespace Pnh.Core.Events;

/// <summary>
/// JSON text that is well-formed and yet no Unicode: an escape may stand for half a surrogate pair (RFC 8259 section 8.2). Each later
/// reader of such a value, and every provider, would choke on it. Pure functions.
/// </summary>
internal static class JsonText
{
    /// <summary>The string or name the reader is on; null when an escape makes half a surrogate pair.</summary>
    public static string? Read(in Utf8JsonReader reader)
    {
        try
        {
            return reader.GetString();
        }
        catch (InvalidOperationException)
        {
            return null;
        }
    }

    /// <summary>False when a name or a string of the value holds half a surrogate pair. The value is well-formed JSON in valid UTF-8.</summary>
    public static bool IsUnicode(ReadOnlySpan<byte> value)
    {
        // Only an escape from D800 to DFFF can make one, and few bodies have any: all others cost two vectorised searches.
        if (value.IndexOf("\\ud"u8) < 0 && value.IndexOf("\\uD"u8) < 0)
        {
            return true;
        }

        var reader = new Utf8JsonReader(value, new JsonReaderOptions { MaxDepth = Limits.JsonDepth });
        while (reader.Read())
        {
            if (reader.ValueIsEscaped && Read(in reader) is null)
            {
                return false;
            }
        }

        return true;
    }
}
