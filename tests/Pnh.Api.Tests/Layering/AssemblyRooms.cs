using System.Reflection.Metadata;
using System.Reflection.PortableExecutable;

namespace Pnh.Api.Tests.Layering;

/// <summary>
/// The rooms (namespaces below a root) of built assemblies, their top-level types, and the arrows between them: who names, calls, derives from, catches or holds what.
/// Read from metadata and method bodies, so that extension methods and <c>var</c> draw their arrows too; constants and <c>nameof</c> do not.
/// </summary>
internal sealed class AssemblyRooms
{
    private readonly Dictionary<(string From, string To), SortedSet<string>> _arrows = [];
    private readonly HashSet<(string Room, string Name)> _types = [];
    private readonly string _root;

    private AssemblyRooms(string root) => _root = root;

    /// <summary>Top-level types, without the number of their type parameters.</summary>
    public IEnumerable<(string Room, string Name)> Types => _types;

    /// <summary>From room to room, with the types at the arrow's head.</summary>
    public IReadOnlyDictionary<(string From, string To), SortedSet<string>> Arrows => _arrows;

    /// <summary>Reads the assemblies at these paths; rooms are the namespaces that are <paramref name="root"/> or begin with it and a dot.</summary>
    public static AssemblyRooms Read(string root, IEnumerable<string> assemblies)
    {
        var rooms = new AssemblyRooms(root);
        foreach (var path in assemblies)
        {
            using var file = new PEReader(File.OpenRead(path));
            var reader = file.GetMetadataReader();
            foreach (var type in reader.TypeDefinitions)
            {
                rooms.Add(file, reader, type);
            }
        }

        return rooms;
    }

    /// <summary>Rooms that reach each other both ways, each set once, by name.</summary>
    public IReadOnlyList<IReadOnlyList<string>> Circles()
    {
        var reached = _arrows.Keys.Select(static arrow => arrow.From).Distinct().ToDictionary(static room => room, ReachedFrom);
        return [.. reached.Keys
            .Select(room => string.Join(", ", reached[room].Where(other => reached.TryGetValue(other, out var back) && back.Contains(room)).Order(StringComparer.Ordinal)))
            .Where(static circle => circle.Length > 0)
            .Distinct()
            .Select(static circle => circle.Split(", "))];
    }

    /// <summary>The arrows inside a circle, one a line, for a developer who has to cut one.</summary>
    public string Describe(IReadOnlyList<string> circle) => string.Join('\n', _arrows
        .Where(arrow => circle.Contains(arrow.Key.From) && circle.Contains(arrow.Key.To))
        .Select(static arrow => $"{arrow.Key.From} -> {arrow.Key.To}: {string.Join(", ", arrow.Value)}")
        .Order(StringComparer.Ordinal));

    private HashSet<string> ReachedFrom(string start)
    {
        var reached = new HashSet<string>();
        var open = new Stack<string>([start]);
        while (open.TryPop(out var room))
        {
            foreach (var (from, to) in _arrows.Keys)
            {
                if (from == room && reached.Add(to))
                {
                    open.Push(to);
                }
            }
        }

        return reached;
    }

    private void Add(PEReader file, MetadataReader reader, TypeDefinitionHandle handle)
    {
        var (room, name) = TypeUse.TopOf(reader, handle);
        if (!IsRoom(room))
        {
            return;
        }

        _types.Add((room, name));
        foreach (var (to, used) in TypeUse.Of(file, reader, handle))
        {
            if (to != room && IsRoom(to))
            {
                if (!_arrows.TryGetValue((room, to), out var types))
                {
                    _arrows.Add((room, to), types = new SortedSet<string>(StringComparer.Ordinal));
                }

                types.Add(used);
            }
        }
    }

    private bool IsRoom(string name) => name == _root || name.StartsWith(_root + ".", StringComparison.Ordinal);
}
