namespace Pnh.Core.Events;

/// <summary>What kind of address an event's <c>to</c> carries.</summary>
public enum TargetKind
{
    /// <summary>All devices of one user.</summary>
    User,

    /// <summary>All devices of each listed user.</summary>
    Users,

    /// <summary>All members of a topic and the sessions that joined it.</summary>
    Topic,

    /// <summary>One device of one user.</summary>
    Device,
}

/// <summary>Whom an event is for: exactly one of user, users, topic, device. Immutable.</summary>
public sealed class EventTarget
{
    private EventTarget(TargetKind kind, IReadOnlyList<string> users, string? topic, string? device)
    {
        Kind = kind;
        Users = users;
        Topic = topic;
        Device = device;
    }

    /// <summary>Which of the four forms was used.</summary>
    public TargetKind Kind { get; }

    /// <summary>The users named; empty for a topic, one for user and device.</summary>
    public IReadOnlyList<string> Users { get; }

    /// <summary>The topic; null unless <see cref="TargetKind.Topic"/>.</summary>
    public string? Topic { get; }

    /// <summary>The device id; null unless <see cref="TargetKind.Device"/>.</summary>
    public string? Device { get; }

    /// <summary>All devices of <paramref name="user"/>.</summary>
    public static EventTarget ToUser(string user) => new(TargetKind.User, [user], null, null);

    /// <summary>All devices of each of <paramref name="users"/>; a user named twice counts once.</summary>
    public static EventTarget ToUsers(IReadOnlyList<string> users) => new(TargetKind.Users, users, null, null);

    /// <summary>The members of <paramref name="topic"/>.</summary>
    public static EventTarget ToTopic(string topic) => new(TargetKind.Topic, [], topic, null);

    /// <summary>One device.</summary>
    public static EventTarget ToDevice(string user, string device) => new(TargetKind.Device, [user], null, device);
}
