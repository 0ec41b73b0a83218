namespace Pnh.Sandbox.Scripts;

/// <summary>What a provider does with a push to a scripted address, after the request itself was found correct.</summary>
public enum ScriptKind
{
    /// <summary>The app is gone: APNs 410 Unregistered with a timestamp, FCM 404 UNREGISTERED, Web Push 410.</summary>
    Unregistered,

    /// <summary>No address of this provider: APNs 400 BadDeviceToken, FCM 400 INVALID_ARGUMENT on its field, Web Push 404.</summary>
    Bad,

    /// <summary>Too many for this device: APNs 429 TooManyRequests (with Retry-After when one is given), FCM 429 QUOTA_EXCEEDED with Retry-After, Web Push 429 with it.</summary>
    Throttled,

    /// <summary>Accepted, after <see cref="Script.Delay"/>.</summary>
    Slow,

    /// <summary>APNs 503 ServiceUnavailable, FCM 503 UNAVAILABLE, Web Push 503, with Retry-After when one is given.</summary>
    Unavailable,

    /// <summary>An HTML page, from something in front of the provider: <see cref="Script.Status"/> (0 = 502), of <see cref="Script.Size"/> bytes.</summary>
    Broken,

    /// <summary>RST_STREAM with <see cref="Script.ErrorCode"/>, no answer.</summary>
    Reset,

    /// <summary>The TCP connection is cut, no answer.</summary>
    Disconnect,

    /// <summary>Accepted and answered, together with a GOAWAY that has <see cref="Script.Reason"/> as debug data.</summary>
    GoAway,

    /// <summary>Accepted and answered, together with SETTINGS that grant <see cref="Script.Streams"/> streams.</summary>
    Grant,

    /// <summary>Refused with <see cref="Script.Reason"/>: an APNs reason, an FCM error code (RATE_LIMIT_EXCEEDED: Google's front end, about the project's quota), or a word in Apple's shape from Web Push.</summary>
    Answer,
}

/// <summary>A script for one address. What a kind does not use is ignored.</summary>
public sealed record Script(ScriptKind Kind)
{
    /// <summary>How many pushes it applies to before the address is healthy again; 0 means until removed.</summary>
    public int Times { get; init; }

    /// <summary>Waited before anything else happens, for every kind.</summary>
    public TimeSpan Delay { get; init; }

    /// <summary>The Retry-After of <see cref="ScriptKind.Throttled"/>, <see cref="ScriptKind.Unavailable"/> and <see cref="ScriptKind.Answer"/>; null sends none, or 60 s where FCM and Web Push throttle.</summary>
    public TimeSpan? RetryAfter { get; init; }

    /// <summary>APNs' time of the 410; null means the moment the script was set.</summary>
    public DateTimeOffset? Timestamp { get; init; }

    /// <summary>HTTP/2 error code of <see cref="ScriptKind.Reset"/>: 2 INTERNAL_ERROR (ambiguous), 7 REFUSED_STREAM (not processed).</summary>
    public int ErrorCode { get; init; } = 2;

    /// <summary>Reason or error code of <see cref="ScriptKind.Answer"/>; reason in the GOAWAY (default Shutdown).</summary>
    public string? Reason { get; init; }

    /// <summary>Status of <see cref="ScriptKind.Answer"/> and <see cref="ScriptKind.Broken"/>; 0 means the provider's usual one for the reason, or 502.</summary>
    public int Status { get; init; }

    /// <summary>Least bytes of the page of <see cref="ScriptKind.Broken"/>; what its text lacks is spaces.</summary>
    public int Size { get; init; }

    /// <summary>Streams of <see cref="ScriptKind.Grant"/>.</summary>
    public int Streams { get; init; } = 1;

    /// <summary>Whether the push reaches the phone although the answer is lost (Reset, Disconnect, Broken).</summary>
    public bool Delivered { get; init; }
}
