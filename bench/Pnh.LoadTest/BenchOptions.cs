using System.Globalization;
using Pnh.LoadTest.Integrity;

namespace Pnh.LoadTest;

/// <summary>What the command line says after the profile's name. Durations in seconds, rates per second.</summary>
internal sealed class BenchOptions
{
    private readonly Dictionary<string, string> _given;

    public BenchOptions(string profile, string[] args)
    {
        Profile = profile;
        _given = Read(args);
        Peer = Text("peer", "pnh");
        Host = Text("host", "127.0.0.1");
        Port = (int)Number("port", 8080);
        OperationsPort = (int)Number("operations-port", 0);
        Key = Text("key", Peer == "pnh" ? null : "");
        SecretFile = Text("secret-file", Peer == "pnh" ? null : "");
        App = Text("app", "demo");
        Server = (int)Number("server", 0);
        Run = Text("run", "l" + TimeProvider.System.GetUtcNow().ToUnixTimeMilliseconds().ToString("x", CultureInfo.InvariantCulture));
        Share = (int)Number("share", 0);
        PerProcess = (int)Number("per-process", 19_000);
        Sessions = (int)Number("sessions", 0);
        Publishers = (int)Number("publishers", 64);
        Rate = Number("rate", -1);
        Seconds = Number("seconds", 10);
        Warm = Number("warm", 3);
        Size = (int)Number("size", 200);
        Class = Text("class", profile switch { "chat" or "storm" or "fan-out" => "message", "mixed" => "call", _ => "transient" });
        Ids = Text("ids", "true") == "true";
        LateAfter = Number("late", 1);
        Connecting = (int)Number("connecting", 128);
        Break = Enum.Parse<Fault>(Text("break", "none"), ignoreCase: true);
        Via = Text("via", "post");
        Resume = Text("resume", "true") == "true";
        Json = _given.Remove("json");
        Label = Text("label", "");
        Linger = Number("linger", Peer == "pnh" ? 60 : 0);
        PhonesPort = (int)Number("phones-port", 0);
        if (_given.Count > 0)
        {
            throw new ArgumentException($"unknown: --{_given.Keys.First()}");
        }
    }

    public string Profile { get; }

    /// <summary>pnh, nchan, c or signalr.</summary>
    public string Peer { get; }

    public string Host { get; }

    public int Port { get; }

    /// <summary>Where PNH's metrics are; 0 = not read.</summary>
    public int OperationsPort { get; }

    public string Key { get; }

    public string SecretFile { get; }

    public string App { get; }

    /// <summary>Process under test, for CPU and memory; 0 = another machine.</summary>
    public int Server { get; }

    /// <summary>Beginning of every name of this run.</summary>
    public string Run { get; }

    /// <summary>Number of this process among those that share the sessions; 0 = the first, which publishes.</summary>
    public int Share { get; }

    /// <summary>Sessions that one process holds; the tool starts itself again for the rest. Below the 20,000 files that a process may open by default.</summary>
    public int PerProcess { get; }

    /// <summary>0 = what the profile wants.</summary>
    public int Sessions { get; }

    public int Publishers { get; }

    /// <summary>Events or rounds; 0 = closed loop, as fast as answers come; negative = what the profile wants.</summary>
    public double Rate { get; }

    public double Seconds { get; }

    /// <summary>Not measured before.</summary>
    public double Warm { get; }

    /// <summary>Bytes of an event's data.</summary>
    public int Size { get; }

    public string Class { get; }

    /// <summary>Whether durable events bring their own id.</summary>
    public bool Ids { get; }

    public double LateAfter { get; }

    /// <summary>Sessions that open at the same time.</summary>
    public int Connecting { get; }

    public Fault Break { get; }

    /// <summary>post or send: who publishes in echo and chat.</summary>
    public string Via { get; }

    /// <summary>Whether a storm's sessions come back as what they were.</summary>
    public bool Resume { get; }

    /// <summary>One JSON object on standard output instead of the table.</summary>
    public bool Json { get; }

    /// <summary>Goes into the result as it is.</summary>
    public string Label { get; }

    /// <summary>How long the server keeps sessions whose connection broke.</summary>
    public double Linger { get; }

    /// <summary>The sandbox's FCM port, where its phones can be asked; 0 = they are not.</summary>
    public int PhonesPort { get; }

    public int SessionsOr(int wanted) => Sessions > 0 ? Sessions : wanted;

    public double RateOr(double wanted) => Rate >= 0 ? Rate : wanted;

    private static Dictionary<string, string> Read(string[] args)
    {
        var given = new Dictionary<string, string>(StringComparer.Ordinal);
        for (var i = 0; i < args.Length; i++)
        {
            var name = args[i].StartsWith("--", StringComparison.Ordinal) ? args[i][2..] : throw new ArgumentException($"{args[i]}: not an option");
            given[name] = name == "json" ? "" : ++i < args.Length ? args[i] : throw new ArgumentException($"--{name} wants a value");
        }

        return given;
    }

    private string Text(string name, string? fallback) =>
        _given.Remove(name, out var value) ? value : fallback ?? throw new ArgumentException($"--{name} is missing");

    private double Number(string name, double fallback) =>
        double.Parse(Text(name, fallback.ToString(CultureInfo.InvariantCulture)), CultureInfo.InvariantCulture);
}
