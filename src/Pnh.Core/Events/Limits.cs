namespace Pnh.Core.Events;

/// <summary>Bounds on what a publisher or a device may send. Over a bound is an error that names the field, never a cut.</summary>
public static class Limits
{
    /// <summary>Bytes of one event's JSON.</summary>
    public const int EventBytes = 64 * 1024;

    /// <summary>Nesting of any JSON taken in.</summary>
    public const int JsonDepth = 16;

    /// <summary>Field errors of one body that its sender is told: some 8 kB, 70 kB when each names the longest member there can be.</summary>
    public const int FieldErrors = 100;

    /// <summary>Users in one <c>to.users</c>.</summary>
    public const int TargetUsers = 1_000;

    /// <summary>Entries of each list of <c>except</c>, and of <c>channels</c>.</summary>
    public const int ListEntries = 100;

    /// <summary>Locales of one notification.</summary>
    public const int Locales = 100;

    /// <summary>Characters of a user, device or topic id.</summary>
    public const int IdCharacters = 128;

    /// <summary>Characters of an event id.</summary>
    public const int EventIdCharacters = 64;

    /// <summary>Bytes of a collapse key (APNs refuses more).</summary>
    public const int CollapseKeyBytes = 64;

    /// <summary>Longest TTL: what FCM stores at most, 28 days.</summary>
    public static readonly TimeSpan Ttl = TimeSpan.FromDays(28);

    /// <summary>How long the receipt of an erasure can be asked for, and keeps client tokens of before it out: a year, and time to look.</summary>
    public static readonly TimeSpan ErasureLife = TimeSpan.FromDays(400);

    /// <summary>How long after an erasure a client token that does not say when it was issued is kept out.</summary>
    public static readonly TimeSpan ErasedWithoutIssueTime = TimeSpan.FromHours(24);

    /// <summary>How long a device says which address was taken off it.</summary>
    public static readonly TimeSpan RemovedAddressLife = TimeSpan.FromDays(30);

    /// <summary>Topics of one user: a session of the user's is in all of them.</summary>
    public const int TopicsPerUser = 10_000;

    /// <summary>Devices of one user.</summary>
    public const int DevicesPerUser = 10_000;

    /// <summary>
    /// Devices that a user may have when a client token registers one more. The holder of a token chooses device ids and addresses, and 10,000 large
    /// ones are some 150 MB to read and to write out; a person with a hundred installations is not known.
    /// </summary>
    public const int DevicesByClient = 100;
}
