using System.Globalization;
using System.Security.Cryptography;
using Pnh.Core.Timing;

namespace Pnh.Channels.Net.Http;

/// <summary>Reads <c>Retry-After</c> (RFC 9110 section 10.2.3): seconds or a date.</summary>
internal static class RetryAfter
{
    /// <summary>No provider may park us for longer: a hostile or broken value would outlive most events.</summary>
    public static readonly TimeSpan Longest = TimeSpan.FromHours(1);

    /// <summary>The wait, between zero (a date gone by) and <see cref="Longest"/>; null for no header or one that is neither form.</summary>
    public static TimeSpan? Read(string? header, TimeProvider time)
    {
        if (header is null)
        {
            return null;
        }

        if (long.TryParse(header, NumberStyles.None, CultureInfo.InvariantCulture, out var seconds))
        {
            return TimeSpan.FromSeconds(Math.Min(seconds, (long)Longest.TotalSeconds));
        }

        return HttpDate.Read(header) is { } date ? TimeSpan.FromTicks(Math.Clamp((date - SteadyClock.WallOf(time).GetUtcNow()).Ticks, 0, Longest.Ticks)) : null;
    }

    /// <summary><paramref name="least"/> and up to as much again, so that lanes do not come back together.</summary>
    public static TimeSpan Jittered(TimeSpan least) =>
        least + TimeSpan.FromMilliseconds(RandomNumberGenerator.GetInt32((int)least.TotalMilliseconds + 1));
}

/// <summary>Reads a date of HTTP (RFC 9110 section 5.6.7).</summary>
internal static class HttpDate
{
    /// <summary>The time; null for no header or one that is no date.</summary>
    public static DateTimeOffset? Read(string? header) =>
        DateTimeOffset.TryParseExact(header, "r", CultureInfo.InvariantCulture, DateTimeStyles.AssumeUniversal, out var date) ? date : null;
}
