namespace Pnh.Channels.WebPush;

/// <summary>Whom a push service writes to when something goes wrong (RFC 8292 section 2.1). Apple judges it: with one that it does not like each push is 403 <c>BadJwtToken</c>. Pure.</summary>
internal static class VapidSubject
{
    /// <summary>Why a push to Apple fails unasked.</summary>
    public const string Refused = "subject";

    /// <summary>What <see cref="IsApples"/> wants, for an operator.</summary>
    public const string AppleRule = "Apple refuses each push with it: it takes mailto: and an address whose domain has a dot, or https: and a public name";

    private static readonly string[] NotPublic = ["localhost", "local", "internal", "invalid"];

    /// <summary>What the RFC asks for.</summary>
    public static bool IsContact(string subject) => Read(subject) is { } contact && (contact.Scheme == Uri.UriSchemeMailto || contact.Scheme == Uri.UriSchemeHttps);

    /// <summary>What Apple takes of it.</summary>
    public static bool IsApples(string subject) =>
        !subject.Any(char.IsWhiteSpace) && Read(subject) is { } contact
        && (contact.Scheme == Uri.UriSchemeMailto ? IsAddress(subject[(subject.IndexOf(':', StringComparison.Ordinal) + 1)..])
            : contact.Scheme == Uri.UriSchemeHttps && contact.HostNameType == UriHostNameType.Dns && IsPublic(contact.IdnHost));

    private static bool IsAddress(string text) => text.Split('@') is [{ Length: > 0 }, var domain] && Uri.CheckHostName(domain) == UriHostNameType.Dns && IsPublic(domain);

    private static bool IsPublic(string name) => name.Split('.') is { Length: > 1 } labels && labels.All(static label => label.Length > 0) && !NotPublic.Contains(labels[^1], StringComparer.OrdinalIgnoreCase);

    private static Uri? Read(string subject) => Uri.TryCreate(subject, UriKind.Absolute, out var contact) ? contact : null;
}
