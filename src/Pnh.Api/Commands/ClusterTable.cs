using System.Globalization;
using Pnh.Api.Operations;

namespace Pnh.Api.Commands;

/// <summary>The nodes of a cluster as lines for a terminal: a head, a line a node, and one for all when there are several.</summary>
internal static class ClusterTable
{
    private const string Unknown = "-";
    private static readonly string[] Head = ["NODE", "ROLE", "VERSION", "LINKS", "SESSIONS", "ACTIVE", "SERVED", "CPU", "MEMORY", "Q-FACTOR"];

    /// <summary>The lines: names to the left, figures to the right.</summary>
    public static IEnumerable<string> Lines(ClusterBody cluster)
    {
        List<string[]> rows = [Head, .. cluster.Nodes.Select(Row)];
        if (cluster.Nodes.Count > 1)
        {
            rows.Add(Row(cluster.All));
        }

        var widths = Enumerable.Range(0, Head.Length).Select(column => rows.Max(row => row[column].Length)).ToArray();
        return rows.Select(row => string.Join("  ", row.Select((text, column) => column < 3 ? text.PadRight(widths[column]) : text.PadLeft(widths[column]))));
    }

    private static string[] Row(NodeBody node) =>
    [
        node.Name, node.Role, node.Version.Length > 0 ? node.Version : Unknown, node.Links > 0 || node.Role != "edge" ? Count(node.Links) : "gone",
        Count(node.Sessions), Count(node.ActiveSessions), Count(node.Served), Cores(node.Cores), Memory(node.MemoryBytes), Count(node.QFactor),
    ];

    private static string[] Row(ClusterSum all) =>
    [
        $"{all.Nodes} nodes", "", "", "", Count(all.Sessions), Count(all.ActiveSessions), Count(all.Served), Cores(all.Cores), Memory(all.MemoryBytes), Count(all.QFactor),
    ];

    private static string Count(double? value) => value?.ToString("0", CultureInfo.InvariantCulture) ?? Unknown;

    // Of one core, as top shows it.
    private static string Cores(double? value) => value is null ? Unknown : string.Create(CultureInfo.InvariantCulture, $"{value * 100:0.0} %");

    private static string Memory(long? bytes) => bytes is null ? Unknown : string.Create(CultureInfo.InvariantCulture, $"{bytes / 1048576.0:0} MiB");
}
