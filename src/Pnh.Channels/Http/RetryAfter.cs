using System.Security.Cryptography;

namespace Pnh.Channels.Http;

/// <summary>Reads <c>Retry-After</c> (RFC 9110 section 10.2.3): seconds or a date.</summary>
internal static class RetryAfter
{
    /// <summary>No provider may park us for longer: a hostile or broken value would outlive most events.</summary>
    public static readonly TimeSpan Longest = TimeSpan.FromHours(1);

    /// <summary>The wait, between zero (a date gone by) and <see cref="Longest"/>; null without a readable header.</summary>
    public static TimeSpan? Read(HttpResponseMessage response, TimeProvider time)
    {
        var header = response.Headers.RetryAfter;
        var wait = header?.Delta ?? (header?.Date is { } date ? date - time.GetUtcNow() : null);
        return wait is { } value ? TimeSpan.FromTicks(Math.Clamp(value.Ticks, 0, Longest.Ticks)) : null;
    }

    /// <summary><paramref name="least"/> and up to as much again, so that lanes do not come back together.</summary>
    public static TimeSpan Jittered(TimeSpan least) =>
        least + TimeSpan.FromMilliseconds(RandomNumberGenerator.GetInt32((int)least.TotalMilliseconds + 1));
}
