using System.Text;

namespace Pnh.Api.Configuration;

/// <summary>How this node and the others of its cluster reach each other.</summary>
internal sealed record ClusterOptions
{
    /// <summary>Where a hub takes links of edges.</summary>
    public const string LinkPath = "/v1/link";

    /// <summary>Where a hub takes tees.</summary>
    public const string TeePath = "/v1/tee";

    private const int LeastKeyCharacters = 32;
    private const int MostKeyCharacters = 256;
    private const int MostKeys = 2;

    /// <summary>Addresses at which this hub listens for links; empty = it takes none.</summary>
    public IReadOnlyList<ListenAddress> Urls { get; init; } = [];

    /// <summary>The addresses that an edge dials, with their path; empty = this node is no edge.</summary>
    public IReadOnlyList<Uri> Hubs { get; init; } = [];

    /// <summary>The cluster's keys, one or two: an edge shows the first, a hub takes both. Empty = none is configured. Secrets.</summary>
    public IReadOnlyList<string> Keys { get; init; } = [];

    /// <summary>Links of an edge to its hub.</summary>
    public int Links { get; init; }

    /// <summary>Apps whose clients an edge takes; empty = all that are configured.</summary>
    public IReadOnlyList<string> Apps { get; init; } = [];

    /// <summary>How long an edge without a link still counts as ready.</summary>
    public TimeSpan HubWait { get; init; }

    /// <summary>Where an edge dials a hub with this address; null when the text is no address.</summary>
    public static Uri? HubAddress(string text) =>
        Uri.TryCreate(text, UriKind.Absolute, out var uri) && (uri.Scheme == Uri.UriSchemeHttp || uri.Scheme == Uri.UriSchemeHttps) && uri.PathAndQuery == "/" && uri.Fragment.Length == 0
            ? new UriBuilder(uri) { Scheme = uri.Scheme == Uri.UriSchemeHttps ? Uri.UriSchemeWss : Uri.UriSchemeWs, Path = LinkPath }.Uri
            : null;

    /// <summary>Reads it; what is wrong for the role is noted.</summary>
    public static ClusterOptions Read(SectionReader pnh, string workingFolder)
    {
        var settings = pnh.Of("Cluster").Read(static section => section.Get<ClusterSettings>(), new ClusterRules());
        var hubs = pnh.Read(static section => section.Get<EdgeNodeSettings>(), new EdgeNodeRules()).Hubs;
        var edge = pnh.Of("Edge").Read(static section => section.Get<EdgeSettings>(), new EdgeRules());
        var options = new ClusterOptions
        {
            Urls = ListenAddress.ParseAll(settings.Urls),
            Hubs = [.. hubs.Select(HubAddress).OfType<Uri>()],
            Keys = ReadKeys(settings.KeyFile, pnh, workingFolder),
            Links = edge.Links,
            Apps = edge.Apps,
            HubWait = edge.HubWait,
        };
        options.Check(settings, pnh);
        return options;
    }

    /// <summary>Notes that a node which dials a hub was not told of one.</summary>
    public void CheckHubs(ConfigurationErrors errors)
    {
        if (Hubs.Count == 0)
        {
            errors.Add("Pnh:Hubs", "is missing; say where the hub listens for links: its Pnh:Cluster:Urls");
        }
    }

    private void Check(ClusterSettings settings, SectionReader pnh)
    {
        if (settings.KeyFile is null && Urls.Count + Hubs.Count > 0)
        {
            pnh.Error("Cluster:KeyFile", "is missing; name a file with the key that all nodes of the cluster share");
        }

        if (!settings.PlainHttp && Urls.FirstOrDefault(static url => !url.IsHttps && !url.IsLoopback) is { } open)
        {
            pnh.Error("Cluster:Urls", $"{open} has no TLS and is reached from other machines; use https, or set Pnh:Cluster:PlainHttp=true where something else encrypts it");
        }

        if (!settings.PlainHttp && Hubs.FirstOrDefault(static hub => hub.Scheme == Uri.UriSchemeWs && !hub.IsLoopback) is { } plain)
        {
            pnh.Error("Hubs", $"{plain.Host} would be reached without TLS; use https, or set Pnh:Cluster:PlainHttp=true where something else encrypts it");
        }
    }

    private static List<string> ReadKeys(string? file, SectionReader pnh, string workingFolder)
    {
        if (file is null)
        {
            return [];
        }

        try
        {
            var lines = File.ReadAllLines(Path.GetFullPath(file, workingFolder), Encoding.UTF8).Select(static line => line.Trim()).Where(static line => line.Length > 0).ToList();
            if (lines.Count is > 0 and <= MostKeys && lines.TrueForAll(IsKey))
            {
                return lines;
            }

            pnh.Error("Cluster:KeyFile", $"must hold one key of {LeastKeyCharacters} to {MostKeyCharacters} visible ASCII characters on a line of its own, or two");
        }
        catch (Exception fault) when (fault is IOException or UnauthorizedAccessException)
        {
            pnh.Error("Cluster:KeyFile", $"cannot be read: {fault.Message.TrimEnd('.')}");
        }

        return [];
    }

    private static bool IsKey(string line) => line.Length is >= LeastKeyCharacters and <= MostKeyCharacters && line.All(static c => c is > ' ' and < (char)127);
}
