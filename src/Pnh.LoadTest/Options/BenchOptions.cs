using System.Globalization;

namespace Pnh.LoadTest.Options;

/// <summary>What the command line says after the profile's name. Durations in seconds, rates per second.</summary>
internal sealed class BenchOptions
{
    public BenchOptions(string profile, string[] args, IReadOnlyDictionary<string, string> defaults)
    {
        var given = new OptionReader(args, defaults, "json", "poll", "no-phones", "traced");
        Profile = profile;
        Peer = given.Text("peer", "pnh");
        Host = given.Text("host", "127.0.0.1");
        Port = (int)given.Number("port", 8080);
        SocketPort = (int)given.Number("socket-port", Port);
        OperationsPort = (int)given.Number("operations-port", 0);
        Key = given.Text("key", Peer == "pnh" ? null : "");
        (Secret, Data) = given.Secret(Peer == "pnh");
        App = given.Text("app", "demo");
        Servers = [.. given.Text("server", "0").Split(',').Select(static process => int.Parse(process, NumberStyles.None, CultureInfo.InvariantCulture))];
        Run = given.Text("run", "l" + TimeProvider.System.GetUtcNow().ToUnixTimeMilliseconds().ToString("x", CultureInfo.InvariantCulture));
        Share = (int)given.Number("share", 0);
        PerProcess = (int)given.Number("per-process", 19_000);
        Sessions = (int)given.Number("sessions", 0);
        Publishers = (int)given.Number("publishers", 64);
        Rate = given.Number("rate", -1);
        Seconds = given.Number("seconds", 10);
        Warm = given.Number("warm", 3);
        Size = (int)given.Number("size", 200);
        Class = given.Text("class", profile switch { "chat" or "storm" or "fan-out" => "message", "mixed" => "call", _ => "transient" });
        Ids = given.Text("ids", "true") == "true";
        LateAfter = given.Number("late", 1);
        Connecting = (int)given.Number("connecting", 128);
        Break = Enum.TryParse<Fault>(given.Text("break", "none"), ignoreCase: true, out var fault) ? fault : throw new ArgumentException("--break: no such fault");
        Via = given.Text("via", "post");
        Resume = given.Text("resume", "true") == "true";
        Json = given.Flag("json");
        Poll = given.Flag("poll");
        Label = given.Text("label", "");
        Pair = (int)given.Number("pair", 0);
        Linger = given.Number("linger", Peer == "pnh" ? 60 : 0);
        PhonesPort = (int)given.Number("phones-port", 0);
        NoPhones = given.Flag("no-phones");
        IsTraced = given.Flag("traced");
        IsMembers = given.Text("as", "joined") switch { "joined" => false, "members" => true, _ => throw new ArgumentException("--as: joined or members") };
        given.End();
    }

    public string Profile { get; }

    /// <summary>pnh, nchan, c or signalr.</summary>
    public string Peer { get; }

    public string Host { get; }

    public int Port { get; }

    /// <summary>Where sockets connect: an edge's port; as a rule that of the server.</summary>
    public int SocketPort { get; }

    /// <summary>Where PNH's metrics are; 0 = not read.</summary>
    public int OperationsPort { get; }

    public string Key { get; }

    /// <summary>Of the app, HS256.</summary>
    public string Secret { get; }

    /// <summary>The hub's data folder, where the sandbox's certificate is.</summary>
    public string Data { get; }

    public string App { get; }

    /// <summary>Processes under test, for CPU and memory together: of a hub with an edge both; 0 = another machine.</summary>
    public IReadOnlyList<int> Servers { get; }

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

    /// <summary>Whether the tool never sleeps, for a core of its own and one process.</summary>
    public bool Poll { get; }

    /// <summary>Goes into the result as it is.</summary>
    public string Label { get; }

    /// <summary>Goes into the result; 0 = none.</summary>
    public int Pair { get; }

    /// <summary>How long the server keeps sessions whose connection broke.</summary>
    public double Linger { get; }

    /// <summary>The sandbox's FCM port, where its phones can be asked; 0 = not known.</summary>
    public int PhonesPort { get; }

    /// <summary>Whether the phones are not asked.</summary>
    public bool NoPhones { get; }

    /// <summary>Whether each event comes with a sampled trace.</summary>
    public bool IsTraced { get; }

    /// <summary>Whether a broadcast's sessions are in its topic because their users are members, with registered devices; else they join it.</summary>
    public bool IsMembers { get; }

    public int SessionsOr(int wanted) => Sessions > 0 ? Sessions : wanted;

    public double RateOr(double wanted) => Rate >= 0 ? Rate : wanted;
}
