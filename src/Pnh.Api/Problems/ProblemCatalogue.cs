using System.Globalization;
using System.Text;

namespace Pnh.Api.Problems;

/// <summary>Every problem that the HTTP API answers. Codes are part of the contract: add, never rename.</summary>
internal static class ProblemCatalogue
{
    /// <summary>The body is no JSON, or broken off.</summary>
    public static ProblemKind MalformedBody { get; } = new("malformed-body", 400, "The body cannot be read",
        "Send well-formed JSON in UTF-8, at most 16 levels deep; the detail says where reading stopped.");

    /// <summary>The body's members are wrong; the list says which.</summary>
    public static ProblemKind InvalidBody { get; } = new("invalid-body", 400, "The body has wrong members",
        "Correct every member named in errors; unknown members are refused.");

    /// <summary>A stream of mostly wrong items; it was ended early.</summary>
    public static ProblemKind TooManyRefusals { get; } = new("too-many-refusals", 400, "Too many items of the stream were refused",
        "Correct what the lines before name, then send the items from the index in the detail on again.");

    /// <summary>An id in the path.</summary>
    public static ProblemKind InvalidId { get; } = new("invalid-id", 400, "An id in the path is not allowed",
        "Ids are 1 to 128 printable characters, percent-encoded as UTF-8, not . or ..; event ids are 1 to 64 of A-Z a-z 0-9 . _ : ~ @ -");

    /// <summary>A query parameter.</summary>
    public static ProblemKind InvalidQuery { get; } = new("invalid-query", 400, "A query parameter is missing or wrong",
        "Correct the parameters named in errors.");

    /// <summary>The request is no proper HTTP.</summary>
    public static ProblemKind BadRequest { get; } = new("bad-request", 400, "The request cannot be read", "Correct the request as the detail says.");

    /// <summary>No credentials, or none that are valid now.</summary>
    public static ProblemKind Unauthorized { get; } = new("unauthorized", 401, "Credentials are missing or not valid",
        "Send Authorization: Bearer with a publisher key or a client token that has not expired.");

    /// <summary>Valid credentials that do not reach this far.</summary>
    public static ProblemKind Forbidden { get; } = new("forbidden", 403, "The credentials do not allow this",
        "Use a key with the scope named in the detail, or a client token of the user and device in the path.");

    /// <summary>No such path on this listener.</summary>
    public static ProblemKind NotFound { get; } = new("not-found", 404, "Nothing is here",
        "Check the path: letters in the case of the documentation, no empty or dot segments, no slash at the end.");

    /// <summary>The path is right, what it names does not exist.</summary>
    public static ProblemKind NoSuchItem { get; } = new("no-such-item", 404, "There is no such item", "It never existed, was removed, or is past its retention.");

    /// <summary>A node of role hub was asked for a socket.</summary>
    public static ProblemKind NoSocketsHere { get; } = new("no-sockets-here", 404, "This node holds no sockets", "Connect to an edge of this cluster.");

    /// <summary>404.</summary>
    public static ProblemKind NoWebPush { get; } = new("no-web-push", 404, "The app has no Web Push", "Give it an account: Apps:{app}:WebPush:0 with Subject and KeyFile.");

    /// <summary>The path exists for other methods.</summary>
    public static ProblemKind MethodNotAllowed { get; } = new("method-not-allowed", 405, "The method is not allowed here", "Use a method of the Allow header.");

    /// <summary>The client took too long to send its request.</summary>
    public static ProblemKind RequestTimeout { get; } = new("request-timeout", 408, "The request came too slowly", "Send it again over a better connection.");

    /// <summary>An event id was used for another event.</summary>
    public static ProblemKind IdConflict { get; } = new("id-conflict", 409, "The id belongs to another event", "Use a new id: this one was accepted with another body.");

    /// <summary>A user's registrations are full.</summary>
    public static ProblemKind TooManyDevices { get; } = new("too-many-devices", 409, "The user has as many devices as allowed", "Remove devices that are gone.");

    /// <summary>One more membership than a user may have.</summary>
    public static ProblemKind TooManyTopics { get; } = new("too-many-topics", 409, "The user is a member of as many topics as allowed", "Remove memberships that are over.");

    /// <summary>Over the byte limit.</summary>
    public static ProblemKind BodyTooLarge { get; } = new("body-too-large", 413, "The body is too large", "Send less at once; the detail names the limit in bytes.");

    /// <summary>Another Content-Type than the endpoint takes, or a Content-Encoding.</summary>
    public static ProblemKind UnsupportedMediaType { get; } = new("unsupported-media-type", 415, "The body is of a type that is not taken here",
        "Send the Content-Type named in the detail, as it is or with Content-Encoding gzip.");

    /// <summary>The caller sends too much.</summary>
    public static ProblemKind TooManyRequests { get; } = new("too-many-requests", 429, "Too many requests", "Wait for the time in Retry-After.");

    /// <summary>A bug of ours.</summary>
    public static ProblemKind InternalError { get; } = new("internal-error", 500, "The hub failed", "Send it again with the same event id; tell the operator when it stays.");

    /// <summary>Queues are full.</summary>
    public static ProblemKind Overloaded { get; } = new("overloaded", 503, "The hub is at its limit", "Wait for the time in Retry-After, then send it again with the same event id.");

    /// <summary>What waits takes the memory.</summary>
    public static ProblemKind MemoryFull { get; } = new("memory-full", 503, "The hub's memory for waiting events is used up",
        "Nothing was accepted. Wait for the time in Retry-After, then send it again with the same event id; more urgent classes are taken for longer.");

    /// <summary>Stable storage does not answer: disk full, database down.</summary>
    public static ProblemKind StoreUnavailable { get; } = new("store-unavailable", 503, "Stable storage is not available",
        "Nothing was accepted. Wait for the time in Retry-After, then send it again with the same event id.");

    /// <summary>The hub is going away.</summary>
    public static ProblemKind ShuttingDown { get; } = new("shutting-down", 503, "The hub is shutting down", "Connect again; another hub, or this one after its restart, answers.");

    /// <summary>All of them, by status.</summary>
    public static IReadOnlyList<ProblemKind> All { get; } =
    [
        MalformedBody, InvalidBody, TooManyRefusals, InvalidId, InvalidQuery, BadRequest, Unauthorized, Forbidden, NotFound, NoSuchItem, NoSocketsHere, NoWebPush, MethodNotAllowed, RequestTimeout,
        IdConflict, TooManyDevices, TooManyTopics, BodyTooLarge, UnsupportedMediaType, TooManyRequests, InternalError, Overloaded, MemoryFull, StoreUnavailable, ShuttingDown,
    ];

    /// <summary>A section of Markdown for each code: <c>docs/errors.md</c> is made of them.</summary>
    public static string ToMarkdown()
    {
        var sections = new StringBuilder();
        foreach (var kind in All)
        {
            sections.Append(CultureInfo.InvariantCulture, $"## {kind.Code}\n{kind.Status}. {kind.Title}. {kind.Remedy}\n\n");
        }

        return sections.ToString().TrimEnd('\n') + "\n";
    }
}
