using Pnh.Channels.Net.Epoll;
using Pnh.Channels.WebSockets.Sessions;
using Pnh.Core.Events;
using Pnh.Storage.Segments;

namespace Pnh.Api.Configuration;

/// <summary>What reading the configuration gave: options, or errors. Options are usable only when there are no errors.</summary>
internal readonly record struct ConfigurationResult(PnhOptions Options, ConfigurationErrors Errors);

/// <summary>Reads and checks section <c>Pnh</c>, all errors at once. Reads key files; opens nothing else.</summary>
internal static class PnhConfiguration
{
    /// <summary>
    /// Reads everything. Relative file names are looked up from <paramref name="workingFolder"/>. What several parts want to say of the same
    /// configuration goes into the same <see cref="ConfigurationErrors"/>: channels add theirs after this call, before the program decides.
    /// </summary>
    public static ConfigurationResult Read(IConfiguration configuration, KnownKeys knownKeys, string workingFolder)
    {
        var reader = new SectionReader(configuration.GetSection(PnhOptions.SectionName), new());
        knownKeys.Check(reader.Section, reader.Errors);
        var node = reader.Read(static section => section.Get<NodeSettings>(), new NodeRules());
        var hub = reader.Read(static section => section.Get<HubSettings>());
        var sockets = reader.Of("Sockets").Read(static section => section.Get<SocketSettings>(), new SocketRules());
        var lanes = reader.Of("Lanes").Read(static section => section.Get<LaneSettings>(), new LaneRules());
        var defaults = new PnhOptions { Data = Path.GetFullPath(hub.Data, workingFolder) };
        var options = defaults with
        {
            Node = node.Node,
            Urls = Addresses(node.Urls) ?? defaults.Urls,
            OperationsUrls = Addresses(node.OperationsUrls) ?? defaults.OperationsUrls,
            Cluster = ClusterOptions.Read(reader, workingFolder),
            Store = hub.Store,
            Postgres = hub.Postgres,
            Sandbox = hub.Sandbox,
            SandboxPorts = reader.Of("SandboxPorts").Read(static section => section.Get<SandboxPorts>(), new SandboxRules()),
            Apps = AppsReader.Read(reader.Of("Apps"), workingFolder),
            Classes = ReadClasses(reader.Of("Classes")),
            Journal = reader.Of("Journal").Read(static section => section.Get<JournalOptions>(), new JournalRules()),
            Mailbox = reader.Of("Mailbox").Read(static section => section.Get<MailboxSettings>(), new MailboxRules()),
            SessionsPerUser = sockets.PerUser,
            DrainWindow = sockets.DrainWindow,
            Sockets = reader.Of("Sockets").Read(static section => section.Get<WebSocketServerOptions>(), new WebSocketServerRules()),
            IsMaxConnectionsSet = reader.Section["Sockets:MaxConnections"] is not null,
            SocketsTransport = SocketLoops.IsSupported ? Transport(sockets.Transport, defaults.SocketsTransport) : TransportOption.Framework,
            Limits = reader.Of("Limits").Read(static section => section.Get<LimitSettings>(), new LimitRules()),
            LanesTransport = Transport(lanes.Transport, defaults.LanesTransport),
            Addresses = reader.Of("Addresses").Read(static section => section.Get<AddressSettings>(), new AddressRules()),
            Console = reader.Of("Console").Read(static section => section.Get<ConsoleSettings>(), new ConsoleRules()),
            Tracing = reader.Of("Tracing").Read(static section => section.Get<TracingSettings>(), new TracingRules()),
        };
        CheckTogether(options, reader);
        return new(options, reader.Errors);
    }

    private static void CheckTogether(PnhOptions options, SectionReader reader)
    {
        if (options.Store == StoreEngine.Postgres && options.Postgres is null)
        {
            reader.Error("Postgres", "must hold a connection string, because Pnh:Store is postgres");
        }

        if (options.Store == StoreEngine.Sqlite && options.Postgres is not null)
        {
            reader.Error("Postgres", "is set, but Pnh:Store is sqlite; set Pnh:Store=postgres or remove it");
        }

        // Port 0 never clashes: the system picks another one each time.
        if (options.OperationsUrls.FirstOrDefault(own => own.Port != 0 && options.Urls.Any(url => url.Port == own.Port)) is { } clash)
        {
            reader.Error("OperationsUrls", $"uses port {clash.Port} of Pnh:Urls; the operations listener needs a port of its own");
        }

        if (options.Cluster.Urls.FirstOrDefault(own => own.Port != 0 && options.Urls.Concat(options.OperationsUrls).Any(url => url.Port == own.Port)) is { } taken)
        {
            reader.Error("Cluster:Urls", $"uses port {taken.Port} of Pnh:Urls or Pnh:OperationsUrls; links need a port of their own");
        }

        if (options.SandboxPorts.Apns == options.SandboxPorts.Fcm && options.SandboxPorts.Apns != 0)
        {
            reader.Error("SandboxPorts:Fcm", "must differ from Pnh:SandboxPorts:Apns");
        }

        // The segment that is written and the one that is done with: with fewer, nothing could ever be removed.
        if (options.Journal.MaxBytes < 2L * options.Journal.SegmentBytes)
        {
            reader.Error("Journal:MaxBytes", "must be at least twice Pnh:Journal:SegmentBytes");
        }
    }

    private static Dictionary<EventClass, ClassSettings> ReadClasses(SectionReader classes)
    {
        var read = new Dictionary<EventClass, ClassSettings>();
        foreach (var one in classes.All())
        {
            if (EventClassNames.TryParse(one.Section.Key.ToLowerInvariant(), out var @class))
            {
                read[@class] = one.Read(static section => section.Get<ClassSettings>(), new ClassRules());
            }
            else
            {
                classes.Error(one.Section.Key, "no such class; use call, message, bulk or transient");
            }
        }

        return read;
    }

    // What does not parse is an error already.
    private static List<ListenAddress>? Addresses(string[]? texts) => texts is null or [] ? null : ListenAddress.ParseAll(texts);

    private static TransportOption Transport(string? text, TransportOption absent) => TransportOption.TryParse(text, out var read) ? read : absent;
}
