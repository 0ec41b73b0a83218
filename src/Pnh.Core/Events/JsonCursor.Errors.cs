using System.Text;

namespace Pnh.Core.Events;

/// <summary>
/// What is wrong with a body. A body of 64 kB can hold 13,000 errors, which made an answer of 1 to 4 MB; nobody reads past the first hundred.
/// </summary>
public ref partial struct JsonCursor
{
    /// <summary>How many errors it has met so far, noted or not.</summary>
    public readonly int ErrorCount => _failed;

    /// <summary>Notes an unknown member and skips its value.</summary>
    public void Unknown(string parent, ReadOnlySpan<byte> name)
    {
        Fail(PointerTo(parent, name), "unknown-member", "There is no such member.");
        _reader.Skip();
    }

    /// <summary>Notes a member given twice; the later value is read as well. <paramref name="seen"/> is the object's bit set.</summary>
    public void Once(ref uint seen, int bit, string pointer)
    {
        if ((seen & (1u << bit)) != 0)
        {
            Fail(pointer, "duplicate-member", "The member is given twice.");
        }

        seen |= 1u << bit;
    }

    /// <summary>Notes an error; after <see cref="Limits.FieldErrors"/> of them, once, that there are more.</summary>
    public void Fail(string pointer, string code, string detail)
    {
        _failed++;
        if (_failed <= Limits.FieldErrors)
        {
            _errors.Add(new FieldError(pointer, code, detail));
        }
        else if (_failed == Limits.FieldErrors + 1)
        {
            _errors.Add(new FieldError("", "too-many-errors", $"There are more than these {Limits.FieldErrors}."));
        }
    }

    /// <summary>A pointer to a member, its name escaped; empty once no more errors are noted, since nobody would read it.</summary>
    internal readonly string PointerTo(string parent, ReadOnlySpan<byte> name) => IsFull ? "" : $"{parent}/{Escape(name)}";

    // The same of a list's entry.
    private readonly string PointerTo(string list, int index) => IsFull ? "" : $"{list}/{index}";

    private readonly bool IsFull => _failed >= Limits.FieldErrors;

    private void WrongType(string pointer, string expected)
    {
        Fail(pointer, "wrong-type", $"Must be {expected}.");
        _reader.Skip();
    }

    // Cut, because a stranger's name may be as long as the body.
    private static string Escape(ReadOnlySpan<byte> name)
    {
        var text = Encoding.UTF8.GetString(name);
        if (text.Length > 64)
        {
            text = text[..(char.IsHighSurrogate(text[63]) ? 63 : 64)];
        }

        return FieldError.Escape(text);
    }
}
