namespace Pnh.Channels.Links.Protocol;

/// <summary>Why an edge is not linked.</summary>
/// <param name="Reason">Kebab-case, stable: a label of metrics. One of <see cref="Reasons"/>.</param>
/// <param name="Text">For a person.</param>
internal sealed record LinkRefusal(string Reason, string Text)
{
    /// <summary>As given; one that is not among <see cref="Reasons"/> would be counted and not shown.</summary>
    public string Reason { get; } = Reasons.Contains(Reason) ? Reason : throw new ArgumentException($"{Reason} is no reason that is counted", nameof(Reason));

    /// <summary>All reasons that there are.</summary>
    public static IReadOnlyList<string> Reasons { get; } = ["wrong-key", "no-hello", "no-common-version", "other-cluster", "unknown-app", "older-node", "other-key", "foreign-session", "unproven-session", "too-many-tees"];

    /// <summary>Says it, and nothing after it.</summary>
    public void Say(LinkQueue output)
    {
        using (var item = output.Begin(LinkItemKind.NotLinked))
        {
            item.Members.Text(Reason).Text(Text);
        }

        output.Complete();
    }

    /// <summary>Null when a hub may link this edge, which showed a key of this name; null = the key has none.</summary>
    public static LinkRefusal? Of(LinkHello hub, LinkHello edge, string? keyName)
    {
        if (!hub.Understands(edge))
        {
            return new("no-common-version", FormattableString.Invariant($"The edge speaks versions {edge.Oldest} to {edge.Newest}, the hub {hub.Oldest} to {hub.Newest}."));
        }

        if (keyName is not null && hub.VersionWith(edge) < LinkHello.CarriesFrames)
        {
            return new("no-common-version", FormattableString.Invariant($"The key {keyName} has a name, and an edge that shows it proves its sessions: it speaks version {LinkHello.CarriesFrames} or later."));
        }

        if (edge.Cluster.Length > 0 && edge.Cluster != hub.Cluster)
        {
            return new("other-cluster", "The edge was linked to a hub with other data.");
        }

        return edge.Apps.FirstOrDefault(app => !hub.Apps.Contains(app)) is { } unknown
            ? new("unknown-app", $"The hub has no app {unknown}.")
            : null;
    }
}
