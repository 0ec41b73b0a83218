namespace Pnh.Api.Access;

/// <summary>What a publisher key may do within its app.</summary>
[Flags]
internal enum Scope
{
    /// <summary>Nothing.</summary>
    None = 0,

    /// <summary>Send, withdraw and explain events.</summary>
    Send = 1,

    /// <summary>Write devices, settings and topic membership.</summary>
    Register = 2,

    /// <summary>Read devices, timelines, presence and the feed.</summary>
    Read = 4,

    /// <summary>Everything, and what only an administrator may: import, export, ending sessions, the console.</summary>
    Admin = 8,
}

/// <summary>Reading, writing and comparing scopes.</summary>
internal static class Scopes
{
    private const Scope All = Scope.Send | Scope.Register | Scope.Read | Scope.Admin;

    /// <summary>The names, in the order in which they are written.</summary>
    public static IReadOnlyList<string> Names { get; } = ["send", "register", "read", "admin"];

    /// <summary>True when <paramref name="held"/> allows all of <paramref name="needed"/>; admin allows everything.</summary>
    public static bool Cover(this Scope held, Scope needed)
    {
        var effective = (held & Scope.Admin) != 0 ? All : held;
        return (effective & needed) == needed;
    }

    /// <summary>Names separated by single spaces, as configuration and challenges have them; empty for none.</summary>
    public static string Text(this Scope scopes) => string.Join(' ', Names.Where((_, bit) => ((int)scopes & (1 << bit)) != 0));

    /// <summary>
    /// Reads names separated by spaces or commas. False when there is none, or one that is unknown: then it is in <paramref name="unknown"/>.
    /// </summary>
    public static bool TryParse(string? text, out Scope scopes, out string? unknown)
    {
        scopes = Scope.None;
        unknown = null;
        foreach (var name in (text ?? "").Split([' ', ','], StringSplitOptions.RemoveEmptyEntries | StringSplitOptions.TrimEntries))
        {
            var bit = Names.IndexOf(name);
            if (bit < 0)
            {
                unknown = name;
                return false;
            }

            scopes |= (Scope)(1 << bit);
        }

        return scopes != Scope.None;
    }

    private static int IndexOf(this IReadOnlyList<string> names, string name)
    {
        for (var i = 0; i < names.Count; i++)
        {
            if (string.Equals(names[i], name, StringComparison.Ordinal))
            {
                return i;
            }
        }

        return -1;
    }
}
