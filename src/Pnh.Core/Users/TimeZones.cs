using System.Collections.Concurrent;
using System.Collections.Frozen;

namespace Pnh.Core.Users;

/// <summary>
/// The system's time zones by IANA name, aliases such as <c>US/Eastern</c> included. The names are listed once, some 600: another text costs no look at
/// the disk and no exception, and .NET, which keeps every spelling that opens a file (<c>Europe//Berlin</c>), is asked for these only. Thread-safe.
/// </summary>
public static class TimeZones
{
    private const string Utc = "UTC";

    // The deepest name is like America/Argentina/Buenos_Aires.
    private const int FoldersDeep = 2;

    private static readonly Lazy<FrozenSet<string>> Names = new(List);
    private static readonly ConcurrentDictionary<string, TimeZoneInfo?> Zones = new(StringComparer.Ordinal);

    /// <summary>Where .NET looks for them; not used on Windows.</summary>
    public static string Folder => Environment.GetEnvironmentVariable("TZDIR") ?? "/usr/share/zoneinfo";

    /// <summary>The zone of that name; null when there is none.</summary>
    public static TimeZoneInfo? Find(string name) =>
        Zones.TryGetValue(name, out var zone) ? zone
        : Names.Value.Contains(name) ? Zones.GetOrAdd(name, static known => TimeZoneInfo.TryFindSystemTimeZoneById(known, out var found) ? found : null)
        : null;

    private static FrozenSet<string> List()
    {
        if (OperatingSystem.IsWindows())
        {
            return TimeZoneInfo.GetSystemTimeZones().Select(static zone => zone.Id).Append(Utc).ToFrozenSet(StringComparer.Ordinal);
        }

        var folder = Folder;
        if (!Directory.Exists(folder))
        {
            return FrozenSet.Create(StringComparer.Ordinal, Utc);
        }

        var options = new EnumerationOptions { RecurseSubdirectories = true, MaxRecursionDepth = FoldersDeep, IgnoreInaccessible = true };
        return Directory.EnumerateFiles(folder, "*", options)
            .Select(path => Path.GetRelativePath(folder, path))
            .Where(IsName).Append(Utc).ToFrozenSet(StringComparer.Ordinal);
    }

    // Beside the zones lie lists, the same zones a second and a third time, and what this machine happens to be set to.
    private static bool IsName(string path) => path is not ("localtime" or "posixrules" or "Factory" or "leapseconds")
        && !path.Contains('.', StringComparison.Ordinal)
        && !path.StartsWith("posix/", StringComparison.Ordinal)
        && !path.StartsWith("right/", StringComparison.Ordinal);
}
