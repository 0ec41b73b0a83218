using System.Security.Cryptography;
using Pnh.Api.Access;

namespace Pnh.Api.Ingest;

/// <summary>
/// Who the last request of a connection was from: a publisher sends the same header each time, and hashing its key costs as much as reading a small
/// event. Holds as long as no key has changed. Immutable.
/// </summary>
internal readonly struct KnownSender
{
    private readonly byte[]? _authorization;
    private readonly int _version;

    private KnownSender(byte[]? authorization, int version, Caller? caller)
    {
        _authorization = authorization;
        _version = version;
        Caller = caller;
    }

    /// <summary>The publisher; null = not known, or may not send.</summary>
    public Caller? Caller { get; }

    /// <summary>Looks the header up.</summary>
    public static KnownSender Find(ReadOnlySpan<byte> authorization, FrontParts parts)
    {
        var version = parts.Keys.Version; // before the look-up: a change in between is noticed by the next request
        return parts.FindSender(authorization) is { } caller ? new(authorization.ToArray(), version, caller) : default;
    }

    /// <summary>True when the header is the known one and no key has changed since. Takes the same time for each wrong one.</summary>
    public bool Matches(ReadOnlySpan<byte> authorization, int version) =>
        _authorization is not null && _version == version && CryptographicOperations.FixedTimeEquals(authorization, _authorization);
}
