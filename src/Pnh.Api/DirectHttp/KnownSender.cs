using System.Security.Cryptography;
using Pnh.Api.Access;

namespace Pnh.Api.DirectHttp;

/// <summary>
/// Who the last request of a connection was from: a publisher sends the same header each time, and hashing its key costs as much as reading a small
/// event. Holds until the key is revoked. Immutable.
/// </summary>
internal readonly struct KnownSender
{
    private readonly byte[]? _authorization;

    private KnownSender(byte[] authorization, Caller caller)
    {
        _authorization = authorization;
        Caller = caller;
    }

    /// <summary>The publisher; null = not known, or may not send.</summary>
    public Caller? Caller { get; }

    /// <summary>Looks the header up.</summary>
    public static KnownSender Find(ReadOnlySpan<byte> authorization, FrontParts parts) =>
        parts.FindSender(authorization) is { } caller ? new(authorization.ToArray(), caller) : default;

    /// <summary>True when the header is the known one and its key still good. Takes the same time for each wrong one.</summary>
    public bool Matches(ReadOnlySpan<byte> authorization) =>
        Caller is { IsRevoked: false } && CryptographicOperations.FixedTimeEquals(authorization, _authorization);
}
