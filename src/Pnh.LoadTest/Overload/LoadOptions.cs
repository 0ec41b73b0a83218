using Pnh.LoadTest.Options;

namespace Pnh.LoadTest.Overload;

/// <summary>What the command line says. Durations in seconds.</summary>
internal sealed record LoadOptions
{
    /// <summary>Where the hub listens, plain HTTP.</summary>
    public required string Host { get; init; }

    public required int Port { get; init; }

    /// <summary>Publisher key with scopes send and admin.</summary>
    public required string Key { get; init; }

    /// <summary>Of the app, HS256.</summary>
    public required string Secret { get; init; }

    /// <summary>A folder on the disk that the hub's journal is on, where an fsync is measured.</summary>
    public required string Data { get; init; }

    /// <summary>The hub's process, for its CPU time.</summary>
    public required int HubProcess { get; init; }

    public required string App { get; init; }

    public required int Connections { get; init; }

    public required int Users { get; init; }

    /// <summary>Of each user, all in front: an event goes to each.</summary>
    public required int Devices { get; init; }

    public required double PhaseSeconds { get; init; }

    /// <summary>Not measured at the start of a phase.</summary>
    public double WarmSeconds { get; init; } = 2;

    /// <summary>Bytes of filling in each event's data.</summary>
    public required int Padding { get; init; }

    /// <summary>Events/s taken as capacity; 0 = measure it.</summary>
    public double Capacity { get; init; }

    /// <summary>How often three times the load is offered by publishers that obey Retry-After.</summary>
    public int Rounds { get; init; } = 9;

    /// <summary>Measures only the phases whose name has this in it; "" = all. With it <see cref="Capacity"/> should be given.</summary>
    public string Only { get; init; } = "";

    /// <summary>Where the table goes; null = standard output only.</summary>
    public string? Output { get; init; }

    /// <summary>Says what was run, as a line of the table's head.</summary>
    public string Title { get; init; } = "";

    public static LoadOptions Parse(string[] args, IReadOnlyDictionary<string, string> defaults)
    {
        var given = new OptionReader(args, defaults);
        var (secret, data) = given.Secret(isNeeded: true);
        var options = new LoadOptions
        {
            Host = given.Text("host", "127.0.0.1"),
            Port = (int)given.Number("port", 8080),
            Key = given.Text("key"),
            Secret = secret,
            Data = data,
            App = given.Text("app", "demo"),
            HubProcess = (int)given.Number("server", 0),
            Connections = (int)given.Number("connections", 1024),
            Users = (int)given.Number("users", 400),
            Devices = (int)given.Number("devices", 1),
            PhaseSeconds = given.Number("seconds", 12),
            Padding = (int)given.Number("padding", 120),
            Capacity = given.Number("capacity", 0),
            Rounds = (int)given.Number("rounds", 9),
            Only = given.Text("only", ""),
            Output = given.Text("output", "") is { Length: > 0 } path ? path : null,
            Title = given.Text("title", ""),
        };
        given.End();
        return options;
    }
}
