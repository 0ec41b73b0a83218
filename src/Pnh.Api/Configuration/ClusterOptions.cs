using System.Text;

namespace Pnh.Api.Configuration;

/// <summary>A key that lets another process link to a hub.</summary>
/// <param name="Name">For logs, and to find its line; null = it has none, and an edge of a version that proves no sessions may show it.</param>
/// <param name="Secret">What an edge shows.</param>
internal sealed record ClusterKey(string? Name, string Secret)
{
    private const int LeastCharacters = 32;
    private const int MostCharacters = 256;
    private const int MostNameCharacters = 64;

    /// <summary>What a line has to be.</summary>
    public static string Form => $"one key a line, of {LeastCharacters} to {MostCharacters} visible ASCII characters, with or without a name and a space before it; a name has lower-case letters, digits and hyphens";

    /// <summary>Reads a line; null = it is no key.</summary>
    public static ClusterKey? Parse(string line) => line.Split(' ', StringSplitOptions.RemoveEmptyEntries) switch
    {
        [var secret] when IsSecret(secret) => new(null, secret),
        [var name, var secret] when IsName(name) && IsSecret(secret) => new(name, secret),
        _ => null,
    };

    /// <summary>The name alone: no log shows a secret.</summary>
    public override string ToString() => Name ?? "a key without a name";

    private static bool IsName(string text) => text.Length <= MostNameCharacters && text.All(static c => c is (>= 'a' and <= 'z') or (>= '0' and <= '9') or '-');

    private static bool IsSecret(string text) => text.Length is >= LeastCharacters and <= MostCharacters && text.All(static c => c is > ' ' and < (char)127);
}

/// <summary>How this node and the others of its cluster reach each other.</summary>
internal sealed record ClusterOptions
{
    /// <summary>Where a hub takes links of edges.</summary>
    public const string LinkPath = "/v1/link";

    /// <summary>Where a hub takes tees.</summary>
    public const string TeePath = "/v1/tee";

    private const int MostKeys = 64;

    /// <summary>Addresses at which this hub listens for links; empty = it takes none.</summary>
    public IReadOnlyList<ListenAddress> Urls { get; init; } = [];

    /// <summary>The addresses that an edge dials, with their path; empty = this node is no edge.</summary>
    public IReadOnlyList<Uri> Hubs { get; init; } = [];

    /// <summary>The cluster's keys: an edge shows the first, a hub takes all. Empty = none is configured. Secrets.</summary>
    public IReadOnlyList<ClusterKey> Keys { get; init; } = [];

    /// <summary>True when links may go over plain HTTP to other machines: then an edge shows no client's token there, and a hub takes its word.</summary>
    public bool IsPlain { get; init; }

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
            IsPlain = settings.PlainHttp,
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

    private static List<ClusterKey> ReadKeys(string? file, SectionReader pnh, string workingFolder)
    {
        if (file is null)
        {
            return [];
        }

        try
        {
            var lines = File.ReadAllLines(Path.GetFullPath(file, workingFolder), Encoding.UTF8).Select(static line => line.Trim()).Where(static line => line.Length > 0).ToList();
            var keys = lines.Select(ClusterKey.Parse).OfType<ClusterKey>().ToList();
            if (keys.Count != lines.Count || keys.Count is 0 or > MostKeys)
            {
                pnh.Error("Cluster:KeyFile", $"must hold 1 to {MostKeys} lines: {ClusterKey.Form}");
            }
            else if (keys.DistinctBy(static key => key.Secret).Count() < keys.Count || keys.Where(static key => key.Name is not null).GroupBy(static key => key.Name).Any(static same => same.Skip(1).Any()))
            {
                pnh.Error("Cluster:KeyFile", "has a key or a name twice; each line is a key of its own");
            }
            else
            {
                return keys;
            }
        }
        catch (Exception fault) when (fault is IOException or UnauthorizedAccessException)
        {
            pnh.Error("Cluster:KeyFile", $"cannot be read: {fault.Message.TrimEnd('.')}");
        }

        return [];
    }
}
