using Pnh.Channels.Settings;
using Pnh.Channels.WebSockets.Sessions;
using Pnh.Storage.Segments;

namespace Pnh.Api.Configuration;

/// <summary>
/// The keys that may stand below <c>Pnh</c>, as patterns relative to it: segments parted by colons, <c>*</c> for any one name
/// (<c>Apps:*:Keys:*:Secret</c>). Case does not matter, as everywhere in configuration. A key that no pattern allows is an error: a typo must
/// not run as a default. Channels add their own patterns before the configuration is read. Not thread-safe.
/// </summary>
internal sealed class KnownKeys
{
    private static readonly Type[] OfEdges = [typeof(EdgeNodeSettings), typeof(EdgeSettings)];

    private static readonly Type[] ForEdgesToo =
        [typeof(NodeSettings), typeof(OriginSettings), typeof(TokenSettings), typeof(SocketSettings), typeof(WebSocketServerOptions), typeof(LimitSettings)];

    private readonly Node _root = new();
    private string _ofWhom = "";

    /// <summary>The hub's own settings, in the order of <c>docs/configure.md</c>.</summary>
    public static IReadOnlyList<SettingsGroup> Groups { get; } =
    [
        new("", typeof(NodeSettings)), new("", typeof(HubSettings)), new("SandboxPorts", typeof(SandboxPorts)), new("Apps:*", typeof(AppSettings)), new("Apps:*", typeof(OriginSettings)), new("Apps:*:Keys:*", typeof(KeySettings)),
        new("Apps:*:Tokens", typeof(TokenSettings)), new("Classes:*", typeof(ClassSettings)), new("Journal", typeof(JournalOptions)), new("Mailbox", typeof(MailboxSettings)),
        new("Addresses", typeof(AddressSettings)), new("Sockets", typeof(SocketSettings)), new("Sockets", typeof(WebSocketServerOptions)), new("Limits", typeof(LimitSettings)),
        new("Lanes", typeof(LaneSettings)), new("Console", typeof(ConsoleSettings)), new("Tracing", typeof(TracingSettings)), new("Cluster", typeof(ClusterSettings)), new("", typeof(EdgeNodeSettings)), new("Edge", typeof(EdgeSettings)),
    ];

    /// <summary>A hub's own keys.</summary>
    public static KnownKeys Hub() => new KnownKeys().Add(Groups.Where(static group => !OfEdges.Contains(group.Type)).SelectMany(static group => group.Keys()));

    /// <summary>An edge's: it has no data, no publishers and no providers.</summary>
    public static KnownKeys Edge() => new KnownKeys
    {
        _ofWhom = " (an edge has no data, no publisher keys and no providers: those are its hub's; an empty value takes back what an image sets)",
    }.Add(Groups.Where(static group => OfEdges.Contains(group.Type) || ForEdgesToo.Contains(group.Type)).SelectMany(static group => group.Keys())).Add("Cluster:KeyFile", "Cluster:PlainHttp");

    /// <summary>Allows more keys; returns itself.</summary>
    public KnownKeys Add(params IEnumerable<string> patterns)
    {
        foreach (var pattern in patterns)
        {
            var node = _root;
            foreach (var segment in pattern.Split(':'))
            {
                node = node.GetOrAdd(segment);
            }

            node.TakesValue = true;
        }

        return this;
    }

    /// <summary>Reports every key of the section that no pattern allows, and every value where a group of keys belongs.</summary>
    public void Check(IConfigurationSection section, ConfigurationErrors errors)
    {
        if (!string.IsNullOrEmpty(section.Value))
        {
            errors.Add(section.Path, "is a section, not a value; set keys below it");
        }

        Check(_root, section, errors);
    }

    private void Check(Node node, IConfigurationSection section, ConfigurationErrors errors)
    {
        foreach (var child in section.GetChildren())
        {
            if (node.Find(child.Key) is not { } next)
            {
                if (_ofWhom.Length > 0 && child.Value is { Length: 0 })
                {
                    continue; // an image sets the hub's keys for every role; empty takes one back
                }

                errors.Add(child.Path, $"unknown key; {node.Describe()}{_ofWhom}");
                continue;
            }

            // An empty object or array in JSON shows up as a key with an empty value: nothing was said, nothing is wrong.
            if (!next.TakesValue && !string.IsNullOrEmpty(child.Value))
            {
                errors.Add(child.Path, $"takes keys, not a value; {next.Describe()}");
            }

            Check(next, child, errors);
        }
    }

    private sealed class Node
    {
        private readonly SortedDictionary<string, Node> _names = new(StringComparer.OrdinalIgnoreCase);
        private Node? _any;

        public bool TakesValue { get; set; }

        public Node GetOrAdd(string segment)
        {
            if (segment == "*")
            {
                return _any ??= new Node();
            }

            if (!_names.TryGetValue(segment, out var node))
            {
                _names.Add(segment, node = new Node());
            }

            return node;
        }

        public Node? Find(string segment) => _names.TryGetValue(segment, out var node) ? node : _any;

        public string Describe() => _names.Count == 0 ? "nothing may stand here" : $"known here: {string.Join(", ", _names.Keys)}";
    }
}
