using System.Globalization;
using Pnh.Api.Access;
using Pnh.Channels.Net.Epoll;
using Pnh.Channels.WebSockets.Sessions;
using Pnh.Core.Events;
using Pnh.Core.Hubs;
using Pnh.Storage.Segments;

namespace Pnh.Api.Configuration;

/// <summary>Section <c>Pnh</c>, read and checked. Immutable; made by <see cref="PnhConfiguration.Read"/>. Never prints a secret.</summary>
internal sealed record PnhOptions
{
    /// <summary>Name of the section.</summary>
    public const string SectionName = "Pnh";

    /// <summary>Folder of everything that must survive a restart, as an absolute path. Default: <c>pnh-data</c> in the caller's working folder.</summary>
    public required string Data { get; init; }

    /// <summary>Addresses of the public listener; at least one. Default http://localhost:8080.</summary>
    public IReadOnlyList<ListenAddress> Urls { get; init; } = [new(IsHttps: false, Address: null, 8080)];

    /// <summary>Addresses of the operations listener; at least one, none shared with <see cref="Urls"/>. Default http://localhost:9090.</summary>
    public IReadOnlyList<ListenAddress> OperationsUrls { get; init; } = [new(IsHttps: false, Address: null, 9090)];

    /// <summary>The node's name as configured; null = none: see <see cref="NodeName"/>.</summary>
    public string? Node { get; init; }

    /// <summary>How the nodes of the cluster reach each other.</summary>
    public ClusterOptions Cluster { get; init; } = new();

    /// <summary>Which engine keeps devices and events. Default sqlite.</summary>
    public StoreEngine Store { get; init; } = StoreEngine.Sqlite;

    /// <summary>PostgreSQL connection string; null unless <see cref="Store"/> is postgres. A secret.</summary>
    public string? Postgres { get; init; }

    /// <summary>Run the sandbox providers: true or false as asked for; null = only on a first start (<see cref="IsFirstStart"/>).</summary>
    public bool? Sandbox { get; init; }

    /// <summary>Ports of the sandbox.</summary>
    public SandboxPorts SandboxPorts { get; init; } = new();

    /// <summary>Configured apps by name; empty = none configured.</summary>
    public IReadOnlyDictionary<string, AppOptions> Apps { get; init; } = new Dictionary<string, AppOptions>();

    /// <summary>Only classes that the configuration mentions.</summary>
    public IReadOnlyDictionary<EventClass, ClassSettings> Classes { get; init; } = new Dictionary<EventClass, ClassSettings>();

    /// <summary>Settings of the embedded journal.</summary>
    public JournalOptions Journal { get; init; } = new();

    public MailboxSettings Mailbox { get; init; } = new();

    public AddressSettings Addresses { get; init; } = new();

    public LimitSettings Limits { get; init; } = new();

    public ConsoleSettings Console { get; init; } = new();

    public TracingSettings Tracing { get; init; } = new();

    /// <summary>Bounds and times of the socket side. Not to be changed once read.</summary>
    public WebSocketServerOptions Sockets { get; init; } = new();

    /// <summary>Over how long clients are sent away at the end; null = as long as the role takes.</summary>
    public TimeSpan? DrainWindow { get; init; }

    /// <summary>True when the configuration says how many connections there may be; then they must fit the limit of open files.</summary>
    public bool IsMaxConnectionsSet { get; init; }

    /// <summary>Sessions that one user may have, 1 or more.</summary>
    public int SessionsPerUser { get; init; } = new SocketSettings().PerUser;

    /// <summary>Who listens on public addresses without TLS, and so how events come in and frames leave. Framework where the system has no epoll.</summary>
    public TransportOption SocketsTransport { get; init; } = SocketLoops.IsSupported ? TransportOption.Direct : TransportOption.Framework;

    /// <summary>How lanes reach providers.</summary>
    public TransportOption LanesTransport { get; init; } = TransportOption.Framework;

    /// <summary>The node's name: the configured one, or the machine's with the first public port.</summary>
    public string NodeName => Node ?? string.Create(CultureInfo.InvariantCulture, $"{Environment.MachineName}:{Urls[0].Port}");

    /// <summary>True when every address of both listeners is a loopback one.</summary>
    public bool IsLoopbackOnly => Urls.Concat(OperationsUrls).All(static url => url.IsLoopback);

    /// <summary>No app, or the app <c>demo</c> with settings that complete it: nothing that lets anybody in.</summary>
    public bool IsDemo => Apps.Count == 0 || (Apps.Count == 1 && Apps.TryGetValue("demo", out var demo) && demo.IsBare);

    /// <summary>A demo, SQLite, loopback: the hub makes the app <c>demo</c> with secrets of its own. (The role must be <c>all</c> as well.)</summary>
    public bool IsFirstStart => IsDemo && Store == StoreEngine.Sqlite && IsLoopbackOnly;

    /// <summary>What starts, and serves nobody as it is or more pages than was perhaps meant; a line each.</summary>
    public IEnumerable<string> Doubts => Unserved.Concat(Apps.Values.Where(static app => app.Origins.Contains(Access.Origins.Opaque)).Select(static app =>
        $"App {app.Name} lists the origin null, which every sandboxed frame of every site has, and every page from a file: any of them may use it with a token"));

    private IEnumerable<string> Unserved => IsFirstStart ? []
        : Apps.Count == 0 ? ["No app is configured (Pnh:Apps), and the demo is for loopback addresses alone: nobody can send or connect"]
        : Apps.Values.Where(static app => app.IsBare).Select(static app => $"App {app.Name} has no key, no token secret and no provider in the configuration: only keys that pnh key add made reach it, and no client does");

    /// <summary>The times of all classes: the configured ones over the defaults.</summary>
    public ClassPolicies ToPolicies() => new(
        ToPolicy(EventClass.Call), ToPolicy(EventClass.Message), ToPolicy(EventClass.Bulk), ToPolicy(EventClass.Transient));

    /// <summary>Settings of the hub itself.</summary>
    public HubOptions ToHubOptions() => new()
    {
        MailboxItems = Mailbox.Items,
        SessionsPerUser = SessionsPerUser,
        SendingApps = Apps.Values.Where(static app => app.ClientSend).Select(static app => app.Name).ToHashSet(StringComparer.Ordinal),
        ContentTexts = Apps.Values.Where(static app => app.ContentText is not null).ToDictionary(static app => app.Name, static app => app.ContentText!, StringComparer.Ordinal),
    };

    private ClassPolicy ToPolicy(EventClass @class)
    {
        var policy = ClassPolicies.Default[@class];
        return Classes.GetValueOrDefault(@class) is { } own
            ? new ClassPolicy(own.Ttl ?? policy.Ttl, own.AckWithin ?? policy.AckWithin, own.PushAfter ?? policy.PushAfter)
            : policy;
    }

    /// <summary>Without secrets.</summary>
    public override string ToString() => string.Create(CultureInfo.InvariantCulture, $"Data={Data} Store={Store} Apps={Apps.Count}");
}

/// <summary>An engine of the device registry and the journal.</summary>
internal enum StoreEngine
{
    /// <summary>Embedded, one node.</summary>
    Sqlite,

    /// <summary>PostgreSQL, several nodes.</summary>
    Postgres,
}
