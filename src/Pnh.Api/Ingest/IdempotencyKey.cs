using Pnh.Api.Problems;
using Pnh.Core.Events;

namespace Pnh.Api.Ingest;

/// <summary>
/// The header <c>Idempotency-Key</c> of a POST of one event: its id, unless the body has the same (draft-ietf-httpapi-idempotency-key-header, section 2: a string in quotes; most clients send it
/// without them).
/// </summary>
internal static class IdempotencyKey
{
    private const string Header = "Idempotency-Key";

    /// <summary>The id; null = none is given. With a problem when it cannot be an event's id.</summary>
    public static string? Read(HttpContext context, out Problem? problem)
    {
        problem = null;
        var given = context.Request.Headers[Header];
        if (given.Count == 0)
        {
            return null;
        }

        var text = given.Count == 1 ? given[0]!.Trim() : "";
        var key = text.Length > 1 && text[0] == '"' && text[^1] == '"' ? text[1..^1] : text;
        if (!Ids.IsEventId(key))
        {
            problem = new Problem(ProblemCatalogue.BadRequest, $"{Header} is the event's id: once, 1 to {Limits.EventIdCharacters} characters of A-Z a-z 0-9 . _ : ~ @ -");
            return null;
        }

        return key;
    }

    /// <summary>Why a batch with a key is refused; null = it has none.</summary>
    public static Problem? OfBatch(string? key) => key is null ? null : new Problem(ProblemCatalogue.BadRequest, $"{Header} is for one event: give each event of a batch its id.");
}
