using System.Globalization;

namespace Pnh.LoadTest.Overload;

/// <summary>What the command line says. Durations in seconds.</summary>
internal sealed record LoadOptions
{
    /// <summary>Where the hub listens, plain HTTP.</summary>
    public required string Host { get; init; }

    public required int Port { get; init; }

    /// <summary>Publisher key with scopes send and register.</summary>
    public required string Key { get; init; }

    /// <summary>File with the bytes whose base64url text is the app's HS256 secret, as a first start makes it.</summary>
    public required string SecretFile { get; init; }

    /// <summary>The hub's process, for its CPU time.</summary>
    public required int HubProcess { get; init; }

    public string App { get; init; } = "demo";

    public int Connections { get; init; } = 1024;

    public int Users { get; init; } = 400;

    /// <summary>Of each user, all in front: an event goes to each.</summary>
    public int Devices { get; init; } = 1;

    public double PhaseSeconds { get; init; } = 12;

    /// <summary>Not measured at the start of a phase.</summary>
    public double WarmSeconds { get; init; } = 2;

    /// <summary>Bytes of filling in each event's data.</summary>
    public int Padding { get; init; } = 120;

    /// <summary>Events/s taken as capacity; 0 = measure it.</summary>
    public double Capacity { get; init; }

    /// <summary>Where the table goes; null = standard output only.</summary>
    public string? Output { get; init; }

    /// <summary>Says what was run, as a line of the table's head.</summary>
    public string Title { get; init; } = "";

    public static LoadOptions Parse(string[] args)
    {
        var given = new Dictionary<string, string>(StringComparer.Ordinal);
        for (var i = 0; i + 1 < args.Length; i += 2)
        {
            given.Add(args[i].TrimStart('-'), args[i + 1]);
        }

        string Text(string name, string? fallback = null) =>
            given.Remove(name, out var value) ? value : fallback ?? throw new ArgumentException($"--{name} is missing");
        double Number(string name, double fallback) =>
            double.Parse(Text(name, fallback.ToString(CultureInfo.InvariantCulture)), CultureInfo.InvariantCulture);
        var defaults = new LoadOptions { Host = "", Port = 0, Key = "", SecretFile = "", HubProcess = 0 };
        var options = new LoadOptions
        {
            Host = Text("host", "127.0.0.1"),
            Port = (int)Number("port", 8080),
            Key = Text("key"),
            SecretFile = Text("secret-file"),
            HubProcess = (int)Number("hub", 0),
            Connections = (int)Number("connections", defaults.Connections),
            Users = (int)Number("users", defaults.Users),
            Devices = (int)Number("devices", defaults.Devices),
            PhaseSeconds = Number("seconds", defaults.PhaseSeconds),
            Padding = (int)Number("padding", defaults.Padding),
            Capacity = Number("capacity", 0),
            Output = Text("output", "") is { Length: > 0 } path ? path : null,
            Title = Text("title", ""),
        };
        return given.Count == 0 ? options : throw new ArgumentException($"unknown: --{given.Keys.First()}");
    }
}
