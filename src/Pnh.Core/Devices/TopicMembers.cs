namespace Pnh.Core.Devices;

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
