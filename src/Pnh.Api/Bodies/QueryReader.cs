using Pnh.Api.Problems;
using Pnh.Core.Events;

namespace Pnh.Api.Bodies;

/// <summary>Reads query parameters and goes on after a mistake, so that all are told at once. An empty parameter is one that is not there. Not thread-safe.</summary>
internal readonly struct QueryReader(HttpContext context)
{
    // Cursors are ours and far shorter; anything longer is none.
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
        ProblemCatalogue.InvalidQuery, errors: [new FieldError($"/{name}", "invalid-cursor", "Not a cursor of this hub; leave it out to begin with the oldest.")]);
}
