using Pnh.Core.Events;
using Pnh.Core.Sessions;

namespace Pnh.Channels.Links.Protocol;

/// <summary>
/// Whom an edge may speak for, at the hub's end of its link: sessions of the apps that its hello named, each with the pass that a hub of the cluster made for it. An edge of a version without passes is taken
/// at its word. For the one reader of a link.
/// </summary>
/// <param name="passes">The cluster's.</param>
internal sealed class LinkDoor(SessionPasses passes)
{
    private static readonly TimeSpan Minute = TimeSpan.FromMinutes(1);

    /// <summary>How long after its token's end a session may be said: it waits for its client, or is about to be closed.</summary>
    public static TimeSpan ForSessions => 10 * Minute;

    /// <summary>How long after its token's end what a client acknowledged may be said: an edge keeps it until its hub is back.</summary>
    public static TimeSpan ForReports => TimeSpan.FromDays(1);

    /// <summary>Apps that the edge's hello named. Null = not said, any.</summary>
    public IReadOnlyList<string>? Apps { get; set; }

    /// <summary>True when the link has passes.</summary>
    public bool HasPasses { get; set; } = true;

    /// <summary>True when an edge may say whom a token speaks for in place of showing it: the owner has said that links go over plain HTTP, where no token may.</summary>
    public bool TakesWord { get; set; }

    /// <summary>Called with the reason when the edge speaks for a session that it may not speak for, before it is thrown or answered. Must not throw.</summary>
    public Action<LinkRefusal> Refused { get; set; } = static _ => { };

    /// <summary>Reads the name of a session of an app that the edge named, with names that a client may have. Throws <see cref="LinkFormatException"/> for every other: the link ends.</summary>
    public SessionKey Key(ref LinkReader reader)
    {
        var key = reader.Key();
        if (Apps?.Contains(key.App) == false)
        {
            Refused(new("foreign-session", "It spoke for a session of an app that its hello did not name."));
            throw new LinkFormatException("a session is of an app that the edge did not name");
        }

        return Ids.IsName(key.User) && Ids.IsName(key.Device) && key.Session.Length is >= 1 and <= Limits.IdCharacters
            ? key
            : throw new LinkFormatException("a session has a name that no client may have");
    }

    /// <summary>Reads a session's name and its pass, as <see cref="Key"/> and <see cref="TryPass"/> do.</summary>
    public bool TryTake(ref LinkReader reader, TimeSpan grace, out SessionKey key, out ClientIdentity? client)
    {
        key = Key(ref reader);
        return TryPass(key, ref reader, grace, out client);
    }

    /// <summary>
    /// Reads the pass behind a session's name. False = it is none of this session, and the item does not count: the link goes on, since a hub that has lost its key must not lose its edges with it.
    /// A null client = the edge is taken at its word.
    /// </summary>
    public bool TryPass(in SessionKey key, ref LinkReader reader, TimeSpan grace, out ClientIdentity? client)
    {
        client = HasPasses ? passes.Read(key, reader.Bytes(), grace) : null;
        if (client is null && HasPasses)
        {
            Refused(new("unproven-session", "It spoke for a session without a pass of this cluster. Either it is no edge, or the hub's data folder has lost link-passes.key."));
        }

        return client is not null || !HasPasses;
    }

    /// <summary>True when a session whose client speaks should have been closed: an edge closes it with its token's end.</summary>
    public bool IsOver(ClientIdentity client) => passes.IsOver(client, ForSessions);

    /// <summary>Reads a client's token, or whom it speaks for, and answers with the session's pass.</summary>
    public void Admit(LinkReader reader, LinkQueue output)
    {
        var (call, key) = (reader.Number(), Key(ref reader));
        var pass = Admit(key, ref reader);
        using var item = output.Begin(LinkItemKind.Admitted);
        item.Members.Number(call).OptionalText(pass.Refusal).Bytes(pass.Proof.Span);
    }

    private SessionPass Admit(in SessionKey key, ref LinkReader reader)
    {
        if (reader.OptionalText() is { } token)
        {
            reader.End();
            return passes.Admit(key, token);
        }

        var client = new ClientIdentity(key.App, key.User, key.Device, reader.Texts(), reader.Time());
        reader.End();
        if (TakesWord)
        {
            return passes.Admit(key, client);
        }

        Refused(new("unproven-session", "It opened a session without its client's token, which may be left out over plain HTTP alone: with Pnh:Cluster:PlainHttp=true at the hub too."));
        return new(default, "missing");
    }
}
