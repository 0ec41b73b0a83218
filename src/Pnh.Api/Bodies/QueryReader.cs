using System.Globalization;
using Pnh.Api.Problems;
using Pnh.Core.Events;
using Pnh.Core.Push;

namespace Pnh.Api.Bodies;

/// <summary>Reads query parameters and goes on after a mistake, so that all are told at once. An empty parameter is one that is not there. Not thread-safe.</summary>
internal readonly struct QueryReader(HttpContext context)
{
    // Cursors are ours and far shorter; anything longer is no cursor.
    private const int MostCharacters = 512;
    private readonly List<FieldError> _errors = [];

    /// <summary>The text; null when absent.</summary>
    public string? Text(string name)
    {
        var values = context.Request.Query[name];
        if (values.Count > 1)
        {
            Fail(name, "duplicate-member", "The parameter is given twice.");
        }
        else if (values is [{ Length: > MostCharacters }])
        {
            Fail(name, "too-long", $"At most {MostCharacters} characters.");
        }

        return values is [{ Length: > 0 } text] ? text : null;
    }

    /// <summary>A user or device id; null when absent or (with an error) not allowed.</summary>
    public string? Name(string name)
    {
        if (Text(name) is not { } text || Ids.IsName(text))
        {
            return Text(name);
        }

        Fail(name, "invalid-id", $"1 to {Limits.IdCharacters} printable characters, not \".\" or \"..\".");
        return null;
    }

    /// <summary>true or false; <paramref name="absent"/> when absent.</summary>
    public bool Flag(string name, bool absent)
    {
        switch (Text(name))
        {
            case null:
                return absent;
            case "true":
                return true;
            case "false":
                return false;
            default:
                Fail(name, "unknown-value", "true or false.");
                return absent;
        }
    }

    /// <summary>A whole number; <paramref name="absent"/> when absent.</summary>
    public int Number(string name, int least, int most, int absent)
    {
        if (Text(name) is not { } text)
        {
            return absent;
        }

        if (int.TryParse(text, NumberStyles.None, CultureInfo.InvariantCulture, out var number) && number >= least && number <= most)
        {
            return number;
        }

        Fail(name, "out-of-range", string.Create(CultureInfo.InvariantCulture, $"A whole number from {least} to {most}."));
        return absent;
    }

    /// <summary>A time with its offset from UTC (RFC 3339); null when absent or (with an error) not one.</summary>
    public DateTimeOffset? Time(string name)
    {
        if (Text(name) is not { } text)
        {
            return null;
        }

        if (DateTimeOffset.TryParseExact(
            text, ["yyyy-MM-dd'T'HH:mm:ssK", "yyyy-MM-dd'T'HH:mm:ss.FFFFFFFK"], CultureInfo.InvariantCulture, DateTimeStyles.AssumeUniversal, out var time))
        {
            return time;
        }

        Fail(name, "invalid-time", "A time like 2026-05-01T12:00:00Z; a + in it is sent as %2B.");
        return null;
    }

    /// <summary>The state of a delivery; null when absent or (with an error) not one.</summary>
    public string? State(string name) => OneOf(name, DeliveryStateNames.All);

    /// <summary>One of these words; null when absent or (with an error) none of them.</summary>
    public string? OneOf(string name, IReadOnlyList<string> words)
    {
        if (Text(name) is not { } text || words.Contains(text))
        {
            return Text(name);
        }

        Fail(name, "unknown-value", $"One of {string.Join(", ", words)}.");
        return null;
    }

    /// <summary>Notes an error; the pointer is a slash and the parameter's name.</summary>
    public void Fail(string name, string code, string detail)
    {
        var pointer = $"/{name}";
        if (!_errors.Exists(error => error.Pointer == pointer))
        {
            _errors.Add(new FieldError(pointer, code, detail));
        }
    }

    /// <summary>All that was wrong; null = nothing.</summary>
    public Problem? Problem => _errors.Count == 0 ? null : new Problem(ProblemCatalogue.InvalidQuery, errors: _errors);

    /// <summary>The problem of a cursor that was not given by this hub.</summary>
    public static Problem NoCursor(string name) => new(
        ProblemCatalogue.InvalidQuery, errors: [new FieldError($"/{name}", "invalid-cursor", "Not a cursor of this hub; leave it out to begin at the start.")]);
}
