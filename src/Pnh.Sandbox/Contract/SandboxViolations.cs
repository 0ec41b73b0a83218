namespace Pnh.Sandbox.Contract;

/// <summary>What a real provider punishes by throttling or closing, whatever it answered to the request itself.</summary>
public enum ViolationKind
{
    /// <summary>More requests in flight on an APNs connection than granted before its first authenticated answer.</summary>
    RequestsBeforeAuthentication,

    /// <summary>A second provider token on a connection, minted too soon after the first.</summary>
    ProviderTokenUpdates,

    /// <summary>More streams on a connection than its SETTINGS granted.</summary>
    ExcessStreams,

    /// <summary>An answer of BadDeviceToken: in number they make APNs disconnect.</summary>
    BadDeviceTokens,

    /// <summary>A payload that is no JSON object, or lacks what its push type needs: APNs, or the page's service worker, drops it silently.</summary>
    UselessPayloads,

    /// <summary>A Web Push message that its browser cannot decrypt: accepted, since a push service cannot know, and dropped silently.</summary>
    UnreadableMessages,

    /// <summary>A push to Safari that shows nothing: the third one costs the site its permission.</summary>
    SilentPushes,
}

/// <summary>Counters of <see cref="ViolationKind"/>. Thread-safe.</summary>
public sealed class SandboxViolations
{
    private readonly long[] _counts = new long[Enum.GetValues<ViolationKind>().Length];

    /// <summary>How often it happened since the start.</summary>
    public long this[ViolationKind kind] => Interlocked.Read(ref _counts[(int)kind]);

    /// <summary>The sum over all kinds: zero is a well-behaved sender.</summary>
    public long Total => Enum.GetValues<ViolationKind>().Sum(kind => this[kind]);

    internal void Add(ViolationKind kind) => Interlocked.Increment(ref _counts[(int)kind]);
}
