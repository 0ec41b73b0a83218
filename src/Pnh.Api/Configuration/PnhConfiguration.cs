using Pnh.Channels.Net.Epoll;
using Pnh.Core.Events;

namespace Pnh.Api.Configuration;

/// <summary>What reading the configuration gave: options, or errors. Options are usable only when there are no errors.</summary>
internal readonly record struct ConfigurationResult(PnhOptions Options, ConfigurationErrors Errors);

/// <summary>Reads and checks section <c>Pnh</c> by hand: no reflection, all errors at once. Reads key files; opens nothing else.</summary>
internal static class PnhConfiguration
{
    /// <summary>Longest wait that a class may ask for.</summary>
    private static readonly TimeSpan LongestWait = TimeSpan.FromHours(1);

    // A mailbox is one device's; 10,000 events of 300 B to each of 100,000 devices would be 300 GB of journal already.
    private const int MostMailboxItems = 10_000;

    /// <summary>
    /// Reads everything. Relative file names are looked up from <paramref name="workingFolder"/>. What several parts want to say of the same
    /// configuration goes into the same <see cref="ConfigurationErrors"/>: channels add theirs after this call, before the program decides.
    /// </summary>
    public static ConfigurationResult Read(IConfiguration configuration, KnownKeys knownKeys, string workingFolder)
    {
        var errors = new ConfigurationErrors();
        var section = configuration.GetSection(PnhOptions.SectionName);
        knownKeys.Check(section, errors);
        var reader = new SectionReader(section, errors);
        var defaults = new PnhOptions { Data = Path.GetFullPath(reader.Text("Data") ?? "pnh-data", workingFolder) };
        var options = defaults with
        {
            Urls = reader.Addresses("Urls", defaults.Urls),
            OperationsUrls = reader.Addresses("OperationsUrls", defaults.OperationsUrls),
            Store = ReadStore(reader),
            Postgres = reader.Text("Postgres"),
            Sandbox = reader.Flag("Sandbox"),
            SandboxPorts = ReadSandboxPorts(new SectionReader(section.GetSection("SandboxPorts"), errors), defaults.SandboxPorts),
            Apps = AppsReader.Read(section.GetSection("Apps"), errors, workingFolder),
            Classes = ReadClasses(section.GetSection("Classes"), errors),
            Journal = JournalReader.Read(section.GetSection("Journal"), errors),
            MailboxItems = new SectionReader(section.GetSection("Mailbox"), errors).Number("Items", 1, MostMailboxItems, defaults.MailboxItems),
            SessionsPerUser = new SectionReader(section.GetSection("Sockets"), errors).Number("PerUser", 1, int.MaxValue, defaults.SessionsPerUser),
            Sockets = SocketsReader.Read(section.GetSection("Sockets"), errors),
            IsMaxConnectionsSet = section["Sockets:MaxConnections"] is not null,
            SocketsTransport = SocketLoops.IsSupported
                ? ReadTransport(section.GetSection("Sockets"), errors, defaults.SocketsTransport)
                : TransportOption.Framework,
            ConnectionsPerAddress = ReadConnectionsPerAddress(section.GetSection("Limits"), errors),
            LanesTransport = ReadTransport(section.GetSection("Lanes"), errors, defaults.LanesTransport),
            RemovesStaleAddresses = new SectionReader(section.GetSection("Addresses"), errors).Flag("RemoveStale") ?? false,
            AddressMovesPerHour = new SectionReader(section.GetSection("Addresses"), errors).Number("MovesPerHour", 0, int.MaxValue, defaults.AddressMovesPerHour),
            ConsoleHostNames = new SectionReader(section.GetSection("Console"), errors).HostNames("HostNames"),
        };
        CheckTogether(options, reader);
        return new(options, errors);
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
    }

    private static StoreEngine ReadStore(SectionReader reader)
    {
        switch (reader.Text("Store")?.ToLowerInvariant())
        {
            case null or "sqlite":
                return StoreEngine.Sqlite;
            case "postgres":
                return StoreEngine.Postgres;
            default:
                reader.Error("Store", "must be sqlite or postgres");
                return StoreEngine.Sqlite;
        }
    }

    private static SandboxPorts ReadSandboxPorts(SectionReader reader, SandboxPorts absent)
    {
        var ports = new SandboxPorts(reader.Port("Apns", absent.Apns), reader.Port("Fcm", absent.Fcm));
        if (ports.Apns == ports.Fcm && ports.Apns != 0)
        {
            reader.Error("Fcm", "must differ from Pnh:SandboxPorts:Apns");
        }

        return ports;
    }

    private static Dictionary<EventClass, ClassOptions> ReadClasses(IConfigurationSection section, ConfigurationErrors errors)
    {
        var classes = new Dictionary<EventClass, ClassOptions>();
        foreach (var child in section.GetChildren())
        {
            if (!EventClassNames.TryParse(child.Key.ToLowerInvariant(), out var @class))
            {
                errors.Add(child.Path, "no such class; use call, message, bulk or transient");
                continue;
            }

            var reader = new SectionReader(child, errors);
            classes[@class] = new(
                reader.Duration("Ttl", Limits.Ttl), reader.Duration("AckWithin", LongestWait, fractions: true), reader.Duration("PushAfter", LongestWait, fractions: true));
        }

        return classes;
    }

    private static int? ReadConnectionsPerAddress(IConfigurationSection section, ConfigurationErrors errors)
    {
        var reader = new SectionReader(section, errors);
        return reader.Text("ConnectionsPerAddress") is null ? null : reader.Number("ConnectionsPerAddress", 0, int.MaxValue, 0);
    }

    private static TransportOption ReadTransport(IConfigurationSection section, ConfigurationErrors errors, TransportOption absent)
    {
        var reader = new SectionReader(section, errors);
        if (reader.Text("Transport") is { } text && !TransportOption.TryParse(text, out var option))
        {
            reader.Error("Transport", "must be Framework, Direct, or a share like Direct:25%");
            return option;
        }

        return TransportOption.TryParse(reader.Text("Transport"), out var read) ? read : absent;
    }
}
