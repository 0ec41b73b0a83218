namespace Pnh.Channels.Links.Protocol;

/// <summary>The first item of both ends: who speaks.</summary>
/// <param name="Oldest">The oldest version of the protocol that this node speaks.</param>
/// <param name="Newest">The newest.</param>
/// <param name="Node">Its name, 1 to 128 characters.</param>
/// <param name="Incarnation">When its process started, Unix milliseconds by its own clock: the same for all its links, and for no other process of its name.</param>
/// <param name="Place">Which of an edge's links to this hub it is, from 0; of a hub 0.</param>
/// <param name="Cluster">Id of the hub's data; of an edge that of the hub that it had last, empty = it had none.</param>
/// <param name="Term">The hub's turn to be active; of an edge the highest it has heard of. 0 = the hub has no rival.</param>
/// <param name="Apps">Of an edge: the apps whose sessions it holds. Of a hub: its apps.</param>
internal sealed record LinkHello(int Oldest, int Newest, string Node, long Incarnation, int Place, string Cluster, long Term, IReadOnlyList<string> Apps)
{
    /// <summary>The newest version that this build speaks.</summary>
    public const int Version = 5;

    /// <summary>The oldest that a hub of it speaks.</summary>
    public const int OldestVersion = 1;

    /// <summary>The version of a tee, which gets each event as it was posted.</summary>
    public const int Tee = 0;

    /// <summary>The version since which a hub says what a client has missed.</summary>
    public const int SaysMissed = 4;

    /// <summary>The version since which links carry frames, and no body that an edge has to read. An edge of it speaks no older one.</summary>
    public const int CarriesFrames = 5;

    /// <summary>The version of its program; empty = it does not say.</summary>
    public string Build { get; init; } = "";

    /// <summary>For how long its process has run: of two nodes with one name the younger is believed, and no clock of theirs is compared. Null = it does not say (builds before it was added).</summary>
    public TimeSpan? Age { get; init; }

    // This process's own, which goes on.
    private Func<TimeSpan>? Running { get; init; }

    /// <summary>What an edge that has just started says of itself.</summary>
    public static LinkHello OfEdge(string node, IEnumerable<string> apps, string build, TimeProvider time) => Of(node, "", apps, build, time) with { Oldest = CarriesFrames };

    /// <summary>What another process that has just started says of itself.</summary>
    public static LinkHello Of(string node, string cluster, IEnumerable<string> apps, string build, TimeProvider time)
    {
        var started = time.GetTimestamp();
        return new(OldestVersion, Version, node, time.GetUtcNow().ToUnixTimeMilliseconds(), 0, cluster, 0, [.. apps.Order(StringComparer.Ordinal)])
        {
            Build = build,
            Running = () => time.GetElapsedTime(started),
        };
    }

    /// <summary>When its process started, by the clock of the node that reads it now. Of one that does not say its age, by its own.</summary>
    public DateTimeOffset StartedAt(DateTimeOffset now) => Age is { } age ? now - age : DateTimeOffset.FromUnixTimeMilliseconds(Incarnation);

    /// <summary>True when both speak a version.</summary>
    public bool Understands(LinkHello other) => Oldest <= other.Newest && other.Oldest <= Newest;

    /// <summary>The version that both speak, when they understand each other.</summary>
    public int VersionWith(LinkHello other) => Math.Min(Newest, other.Newest);

    /// <summary>Reads the members of a hello. A newer version's may have more of them.</summary>
    public static LinkHello Read(ReadOnlyMemory<byte> members)
    {
        var reader = new LinkReader(members.Span);
        var hello = new LinkHello(reader.Small(), reader.Small(), reader.Name(), reader.Number(), reader.Small(), reader.Text(), reader.Number(), reader.Texts());
        hello = reader.Left == 0 ? hello : hello with { Build = reader.Text() };
        return reader.Left == 0 ? hello : hello with { Age = reader.Age() };
    }

    /// <summary>Reads a hub's answer to a hello. Throws <see cref="LinkFormatException"/> when it is a refusal, or something else than a hello.</summary>
    public static LinkHello ReadAnswer(LinkItemKind kind, ReadOnlyMemory<byte> members)
    {
        if (kind == LinkItemKind.NotLinked)
        {
            var reader = new LinkReader(members.Span);
            throw new LinkFormatException($"it refused: {reader.Text()}. {reader.Text()}");
        }

        return kind == LinkItemKind.Hello ? Read(members) : throw new LinkFormatException("its first item is no hello");
    }

    /// <summary>Says it.</summary>
    public void Write(LinkQueue output)
    {
        using var item = output.Begin(LinkItemKind.Hello);
        var members = item.Members.Number(Oldest).Number(Newest).Text(Node).Number(Incarnation).Number(Place).Text(Cluster).Number(Term).Texts(Apps).Text(Build);
        if ((Running?.Invoke() ?? Age) is { } age)
        {
            members.Age(age);
        }
    }
}
