namespace Pnh.Core.Hubs;

/// <summary>Settings of the hub. Immutable.</summary>
public sealed record HubOptions
{
    /// <summary>Most events that one device's mailbox holds, 1 or more; of more, the oldest bulk goes first. Default 500.</summary>
    public int MailboxItems { get; init; } = 500;

    /// <summary>Sessions with a connection that one user may have, 1 or more; the next hello of a further device is refused. Default 100.</summary>
    public int SessionsPerUser { get; init; } = 100;

    /// <summary>Apps whose texts and data providers do not get, with the line that they get instead. Default none.</summary>
    public IReadOnlyDictionary<string, string> ContentTexts { get; init; } = new Dictionary<string, string>();

    /// <summary>Apps whose clients may publish over their sockets. Default none.</summary>
    public IReadOnlySet<string> SendingApps { get; init; } = new HashSet<string>();
}
