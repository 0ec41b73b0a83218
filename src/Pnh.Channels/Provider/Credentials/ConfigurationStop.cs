using Pnh.Core.Push;

namespace Pnh.Channels.Provider.Credentials;

/// <summary>
/// The breaker of a credential (or of a topic): once the provider refuses it, everybody who would use it is told the provider's own word, to come back later, and
/// one request per <see cref="Pause"/> looks whether somebody has acted. A refusal says nothing of one class or connection, so all of the credential's
/// lanes share it; refused requests would only slow the connections down (Apple counts them). Thread-safe.
/// </summary>
internal sealed class ConfigurationStop(TimeProvider time)
{
    /// <summary>People act in minutes. What waits comes back within a quarter more.</summary>
    public static readonly TimeSpan Pause = TimeSpan.FromSeconds(30);

    /// <summary>What was sent before the credential was replaced may be refused for so long afterwards: longer than all attempts together.</summary>
    private static readonly TimeSpan Lag = TimeSpan.FromSeconds(30);

    private readonly long _pause = Ticks(Pause, time);
    private readonly long _lag = Ticks(Lag, time);
    private Refusal? _refusal;
    private long _renewedAt = long.MinValue / 2;

    /// <summary>The provider refuses now.</summary>
    public bool IsRefusing => Volatile.Read(ref _refusal) is not null;

    /// <summary>Null = ask the provider: nothing is known against it, or it is time that this one looks.</summary>
    public DeliveryResult? Hold(Delivery delivery)
    {
        if (Volatile.Read(ref _refusal) is not { } refusal)
        {
            return null;
        }

        var now = time.GetTimestamp();
        var next = Volatile.Read(ref refusal.LookAt);
        if (now < next || Interlocked.CompareExchange(ref refusal.LookAt, now + _pause, next) != next)
        {
            return Held(refusal);
        }

        Volatile.Write(ref refusal.Looker, delivery);
        return null;
    }

    /// <summary>
    /// The same for a delivery that <see cref="Hold"/> let through and that has waited for its place since: null = send it now. What came before the
    /// refusal would be refused one by one, each for a connection of its own; only who looks may pass, as often as it takes (another token, another attempt).
    /// </summary>
    public DeliveryResult? HoldBack(Delivery delivery) =>
        Volatile.Read(ref _refusal) is { } refusal && Volatile.Read(ref refusal.Looker) != delivery ? Held(refusal) : null;

    /// <summary>The provider's refusal, with a time for the delivery that met it.</summary>
    public DeliveryResult Refused(in DeliveryResult result)
    {
        var now = time.GetTimestamp();
        if (now - Volatile.Read(ref _renewedAt) > _lag)
        {
            Interlocked.CompareExchange(ref _refusal, new Refusal(result.Reason, now + _pause), null);
        }

        return result with { RetryAfter = Pause };
    }

    /// <summary>The provider took it.</summary>
    public void Passed()
    {
        if (Volatile.Read(ref _refusal) is not null)
        {
            Volatile.Write(ref _refusal, null);
        }
    }

    /// <summary>Another credential took the place of the refused one.</summary>
    public void Renewed()
    {
        Volatile.Write(ref _renewedAt, time.GetTimestamp());
        Volatile.Write(ref _refusal, null);
    }

    private static DeliveryResult Held(Refusal refusal) =>
        new() { Status = DeliveryStatus.Misconfigured, Reason = refusal.Reason, RetryAfter = Pause, IsHeld = true };

    private static long Ticks(TimeSpan span, TimeProvider time) => (long)(span.TotalSeconds * time.TimestampFrequency);

    private sealed class Refusal(string? reason, long lookAt)
    {
        public readonly string? Reason = reason;
        public long LookAt = lookAt;

        /// <summary>Who was let through last; null = nobody yet.</summary>
        public Delivery? Looker;
    }
}
