using System.Text;
using System.Text.Json;
using System.Text.Unicode;

namespace Pnh.Core.Events;

/// <summary>
/// Walks a JSON body and collects its field errors, up to <see cref="Limits.FieldErrors"/>, instead of stopping at the first. Each Read method is
/// called with the reader on the member's value, leaves it on the value's last token, and answers null (or false) after it has noted what was wrong.
/// </summary>
public ref partial struct JsonCursor
{
    private readonly ReadOnlyMemory<byte> _body;
    private readonly ICollection<FieldError> _errors;
    private Utf8JsonReader _reader;
    private int _failed;

    /// <summary>Over one JSON value of at most <see cref="Limits.JsonDepth"/> levels; errors go to <paramref name="errors"/>.</summary>
    public JsonCursor(ReadOnlyMemory<byte> body, ICollection<FieldError> errors)
    {
        _body = body;
        _errors = errors;
        _reader = new Utf8JsonReader(body.Span, new JsonReaderOptions { MaxDepth = Limits.JsonDepth });
    }

    /// <summary>Steps onto the body's opening brace; false (with an error) when it is not an object or not UTF-8.</summary>
    public bool EnterBody()
    {
        // The reader looks into strings only when they are read, and raw data would go out as it came: a socket's client closes on bad UTF-8.
        if (!Utf8.IsValid(_body.Span))
        {
            Fail("", "invalid-text", "The body is not valid UTF-8.");
            return false;
        }

        if (!_reader.Read() || _reader.TokenType != JsonTokenType.StartObject)
        {
            Fail("", "wrong-type", "The body must be a JSON object.");
            return false;
        }

        return true;
    }

    /// <summary>Steps onto an object value; false (with an error, value skipped) when it is something else.</summary>
    public bool EnterObject(string pointer)
    {
        if (_reader.TokenType == JsonTokenType.StartObject)
        {
            return true;
        }

        WrongType(pointer, "an object");
        return false;
    }

    /// <summary>Moves to the next member's value; false at the object's end. <paramref name="name"/> is valid until the next call.</summary>
    public bool NextMember(out ReadOnlySpan<byte> name)
    {
        _reader.Read();
        if (_reader.TokenType != JsonTokenType.PropertyName)
        {
            name = default;
            return false;
        }

        name = _reader.ValueIsEscaped && Text() is { } plain ? Encoding.UTF8.GetBytes(plain) : _reader.ValueSpan;
        _reader.Read();
        return true;
    }

    /// <summary>Nothing may follow the body; notes an error when something does.</summary>
    public void LeaveBody()
    {
        // Read throws on trailing data, which the caller reports as invalid JSON.
        _reader.Read();
    }

    /// <summary>A string of at most <paramref name="maxCharacters"/>.</summary>
    public string? ReadString(string pointer, int maxCharacters)
    {
        if (_reader.TokenType != JsonTokenType.String)
        {
            WrongType(pointer, "a string");
            return null;
        }

        if (Text() is not { } value)
        {
            Fail(pointer, "invalid-text", "The string is not valid Unicode.");
            return null;
        }

        if (value.Length > maxCharacters)
        {
            Fail(pointer, "too-long", $"At most {maxCharacters} characters.");
            return null;
        }

        return value;
    }

    /// <summary>A user, device or topic id.</summary>
    public string? ReadName(string pointer)
    {
        var value = ReadString(pointer, 4 * Limits.IdCharacters);
        if (value is not null && !Ids.IsName(value))
        {
            Fail(pointer, "invalid-id", $"1 to {Limits.IdCharacters} printable characters, not \".\" or \"..\".");
            return null;
        }

        return value;
    }

    /// <summary>A number of seconds, fractions allowed, within the bounds.</summary>
    public TimeSpan? ReadSeconds(string pointer, TimeSpan least, TimeSpan most)
    {
        if (_reader.TokenType != JsonTokenType.Number || !_reader.TryGetDouble(out var seconds) || !double.IsFinite(seconds))
        {
            WrongType(pointer, "a number of seconds");
            return null;
        }

        if (seconds < least.TotalSeconds || seconds > most.TotalSeconds)
        {
            Fail(pointer, "out-of-range", $"Between {least.TotalSeconds} and {most.TotalSeconds} seconds.");
            return null;
        }

        return TimeSpan.FromSeconds(seconds);
    }

    /// <summary>A whole number within the bounds.</summary>
    public int? ReadInt32(string pointer, int least, int most)
    {
        if (_reader.TokenType != JsonTokenType.Number || !_reader.TryGetInt32(out var value))
        {
            WrongType(pointer, "a whole number");
            return null;
        }

        if (value < least || value > most)
        {
            Fail(pointer, "out-of-range", $"Between {least} and {most}.");
            return null;
        }

        return value;
    }

    /// <summary>A number from 0 to 1.</summary>
    public double? ReadShare(string pointer)
    {
        if (_reader.TokenType != JsonTokenType.Number || !_reader.TryGetDouble(out var value))
        {
            WrongType(pointer, "a number");
            return null;
        }

        if (value is >= 0 and <= 1)
        {
            return value;
        }

        Fail(pointer, "out-of-range", "Between 0 and 1.");
        return null;
    }

    /// <summary>True or false.</summary>
    public bool ReadBoolean(string pointer)
    {
        if (_reader.TokenType is JsonTokenType.True or JsonTokenType.False)
        {
            return _reader.GetBoolean();
        }

        WrongType(pointer, "true or false");
        return false;
    }

    /// <summary>An array of at most <paramref name="maxEntries"/> user, device or topic ids; empty when it was wrong.</summary>
    public List<string> ReadNames(string pointer, int maxEntries) => ReadEntries(pointer, maxEntries, areEventIds: false);

    /// <summary>An array of at most <paramref name="maxEntries"/> event ids; empty when it was wrong.</summary>
    public List<string> ReadEventIds(string pointer, int maxEntries) => ReadEntries(pointer, maxEntries, areEventIds: true);

    private List<string> ReadEntries(string pointer, int maxEntries, bool areEventIds)
    {
        var values = new List<string>();
        if (_reader.TokenType != JsonTokenType.StartArray)
        {
            WrongType(pointer, "an array of strings");
            return values;
        }

        var index = 0;
        while (_reader.Read() && _reader.TokenType != JsonTokenType.EndArray)
        {
            if (index < maxEntries)
            {
                if ((areEventIds ? ReadEventId(pointer, index) : ReadEntry(pointer, index)) is { } value)
                {
                    values.Add(value);
                }
            }
            else
            {
                _reader.Skip();
            }

            index++;
        }

        if (index > maxEntries)
        {
            Fail(pointer, "too-many", $"At most {maxEntries} entries.");
        }

        return values;
    }

    /// <summary>The value's own bytes, whatever it is; empty (with an error) when a name or a string in it is not valid Unicode.</summary>
    public ReadOnlyMemory<byte> ReadRaw(string pointer)
    {
        var start = checked((int)_reader.TokenStartIndex);
        _reader.Skip();
        var raw = _body[start..checked((int)_reader.BytesConsumed)];
        if (JsonText.IsUnicode(raw.Span))
        {
            return raw;
        }

        Fail(pointer, "invalid-text", "A name or a string in it is not valid Unicode.");
        return default;
    }

    /// <summary>The bytes of an object; empty (with an error) when it is something else.</summary>
    public ReadOnlyMemory<byte> ReadRawObject(string pointer)
    {
        if (_reader.TokenType != JsonTokenType.StartObject)
        {
            WrongType(pointer, "an object");
            return default;
        }

        return ReadRaw(pointer);
    }

    /// <summary>The value as an element, for what is read elsewhere (a channel's section); null (with an error) as <see cref="ReadRaw"/>.</summary>
    public JsonElement? ReadElement(string pointer)
    {
        var value = _reader;
        return ReadRaw(pointer).IsEmpty ? null : JsonElement.ParseValue(ref value);
    }

    // The pointer is built only for what is wrong: a list may hold a thousand ids.
    private string? ReadEntry(string list, int index) =>
        _reader.TokenType == JsonTokenType.String && Text() is { } value && Ids.IsName(value) ? value : ReadName(PointerTo(list, index));

    private string? ReadEventId(string list, int index)
    {
        if (_reader.TokenType == JsonTokenType.String && Text() is { } value && Ids.IsEventId(value))
        {
            return value;
        }

        var pointer = PointerTo(list, index);
        if (ReadString(pointer, 4 * Limits.EventIdCharacters) is not null)
        {
            Fail(pointer, "invalid-id", $"1 to {Limits.EventIdCharacters} characters of A-Z a-z 0-9 . _ : ~ @ -");
        }

        return null;
    }

    private readonly string? Text() => JsonText.Read(in _reader);
}
