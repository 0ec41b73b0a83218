namespace Pnh.Core.Shards;

/// <summary>Settings of the hub.</summary>
public sealed record HubOptions
{
    /// <summary>Events that one device's mailbox holds at most. Default 500.</summary>
    public int MailboxItems { get; init; } = 500;

    /// <summary>Apps whose clients may publish. Default none.</summary>
    public IReadOnlySet<string> SendingApps { get; init; } = new HashSet<string>();
}
