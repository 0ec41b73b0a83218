namespace Pnh.Core.Users;

/// <summary>Some of a topic's members, one after the other.</summary>
/// <param name="Users">Their ids; may be empty.</param>
/// <param name="IsLast">True when nobody comes after them.</param>
public readonly record struct MemberPage(IReadOnlyList<string> Users, bool IsLast);

/// <summary>All members of a topic, read at once; empty also for a topic that nobody knows. Immutable, thread-safe.</summary>
/// <param name="users">In the registry's order, each once.</param>
public sealed class TopicMembers(IReadOnlyList<string> users)
{
    // A few are compared faster than hashed.
    private const int FewUsers = 8;
    private HashSet<string>? _set;

    /// <summary>Nobody.</summary>
    public static TopicMembers None { get; } = new([]);

    /// <summary>Their ids, in the registry's order.</summary>
    public IReadOnlyList<string> Users { get; } = users;

    /// <summary>True when it comes later in the registry's order, that of UTF-8; .NET's ordinal one differs from it above U+FFFF.</summary>
    public static bool IsAfter(string user, string other)
    {
        var same = user.AsSpan().CommonPrefixLength(other);
        if (same == Math.Min(user.Length, other.Length))
        {
            return user.Length > other.Length;
        }

        // Up to here they are equal, and one of two UTF-16 surrogates stands for a greater number than it is.
        return char.IsSurrogate(user[same]) == char.IsSurrogate(other[same]) ? user[same] > other[same] : char.IsSurrogate(user[same]);
    }

    /// <summary>True when the user is one of them.</summary>
    public bool Contains(string user)
    {
        if (Users.Count > FewUsers)
        {
            return (_set ??= new HashSet<string>(Users, StringComparer.Ordinal)).Contains(user);
        }

        for (var i = 0; i < Users.Count; i++)
        {
            if (string.Equals(Users[i], user, StringComparison.Ordinal))
            {
                return true;
            }
        }

        return false;
    }
}
