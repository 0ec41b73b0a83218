namespace Pnh.Core.Users;

/// <summary>A user of an app: the key of everything that belongs to one person.</summary>
public readonly struct UserKey : IEquatable<UserKey>
{
    // Made once: one event asks for it in the registry's cache, for the shard and in the shard.
    private readonly int _hash;

    /// <summary>Of an app's user.</summary>
    public UserKey(string app, string user)
    {
        (App, User) = (app, user);
        _hash = (app.GetHashCode(StringComparison.Ordinal) * 397) ^ user.GetHashCode(StringComparison.Ordinal);
    }

    /// <summary>The tenant.</summary>
    public string App { get; }

    /// <summary>Whom its back-end calls so.</summary>
    public string User { get; }

    /// <summary>Both are the same, ordinal.</summary>
    public static bool operator ==(UserKey left, UserKey right) => left.Equals(right);

    /// <summary>Not both are the same.</summary>
    public static bool operator !=(UserKey left, UserKey right) => !left.Equals(right);

    /// <inheritdoc/>
    public bool Equals(UserKey other) =>
        _hash == other._hash && string.Equals(User, other.User, StringComparison.Ordinal) && string.Equals(App, other.App, StringComparison.Ordinal);

    /// <inheritdoc/>
    public override bool Equals(object? obj) => obj is UserKey other && Equals(other);

    /// <inheritdoc/>
    public override int GetHashCode() => _hash;

    /// <summary>For logs and tests.</summary>
    public override string ToString() => $"{App}/{User}";
}

/// <summary>A topic of an app.</summary>
public readonly record struct TopicKey(string App, string Topic);

/// <summary>A device's operating system as far as channels care.</summary>
public enum Platform
{
    /// <summary>iPhone, iPad, watch.</summary>
    Ios,

    /// <summary>Android.</summary>
    Android,

    /// <summary>A browser, or any socket whose device is not registered.</summary>
    Web,

    /// <summary>A desktop program.</summary>
    Desktop,
}

/// <summary>One installation of an app, by the id that the client chose. Immutable: a registration replaces the whole record.</summary>
public sealed record Device
{
    /// <summary>Chosen by the client, unique per user.</summary>
    public required string Id { get; init; }

    /// <summary>Operating system.</summary>
    public required Platform Platform { get; init; }

    /// <summary>Push addresses over all channels; empty = reachable by socket only.</summary>
    public IReadOnlyList<PushAddress> Addresses { get; init; } = [];

    /// <summary>BCP 47 locale for localised texts; null = the default texts.</summary>
    public string? Locale { get; init; }

    /// <summary>The app's version, as the client states it; null = unknown.</summary>
    public string? AppVersion { get; init; }

    /// <summary>When the record was last written by a registration.</summary>
    public required DateTimeOffset RegisteredAt { get; init; }

    /// <summary>The address, else the one that took its place: same channel, kind and scope, so the same provider account serves it. Null = there is neither.</summary>
    public PushAddress? FindSuccessor(PushAddress planned)
    {
        PushAddress? successor = null;
        for (var i = 0; i < Addresses.Count; i++)
        {
            var address = Addresses[i];
            if (IsSame(address.Channel, planned.Channel) && IsSame(address.Member, planned.Member) && IsSame(address.Scope, planned.Scope))
            {
                if (IsSame(address.Value, planned.Value))
                {
                    return address;
                }

                successor ??= address;
            }
        }

        return successor;
    }

    private static bool IsSame(string a, string b) => string.Equals(a, b, StringComparison.Ordinal);
}

/// <summary>
/// Where a provider reaches a device. Immutable. The same (app, channel, kind, value up to its first blank) exists once: registering it elsewhere moves it.
/// </summary>
/// <param name="Channel">Channel name: <c>apns</c>, <c>fcm</c>, ….</param>
/// <param name="Kind">What the channel calls it: <c>token</c>, <c>voipToken</c>, <c>liveActivityToken</c>, <c>fid</c>, …; behind a blank, what the channel wants to know of it besides.</param>
/// <param name="Value">The secret part. Never logged, never a label. What comes behind a blank (a browser's keys) belongs to the address and does not tell it from others.</param>
/// <param name="Scope">What else the channel needs to route it, in the channel's own form (APNs: <c>environment/topic</c>); empty = nothing. Shared by many devices: a registry keeps one object of each, within bounds.</param>
/// <param name="RegisteredAt">Last time a client confirmed it; a provider's older "gone" does not remove it.</param>
public sealed record PushAddress(string Channel, string Kind, string Value, string Scope, DateTimeOffset RegisteredAt)
{
    /// <summary>Behind an FCM address of an app that takes calls as data: <c>token calls=data</c>.</summary>
    public const string CallsAsData = " calls=data";

    /// <summary>The member of a device's JSON that has it.</summary>
    public string Member => MemberOf(Kind);

    /// <summary>As <see cref="Member"/>, of a kind.</summary>
    public static string MemberOf(string kind) => kind.IndexOf(' ', StringComparison.Ordinal) is >= 0 and var end ? kind[..end] : kind;

    /// <summary>Without the value, so that no log can leak it.</summary>
    public override string ToString() => $"{Channel}/{Kind}";
}
