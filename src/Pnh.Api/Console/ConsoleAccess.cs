using System.Buffers.Text;
using System.Collections.Concurrent;
using System.Security.Cryptography;
using System.Text;
using Pnh.Api.Access;

namespace Pnh.Api.ConsolePage;

/// <summary>
/// Tickets and sessions of the console, in memory: a restart signs everybody out. Only hashes are kept, so that a lookup's time says nothing
/// of the secret. Thread-safe.
/// </summary>
internal sealed class ConsoleAccess
{
    /// <summary>How long a browser stays signed in.</summary>
    public static readonly TimeSpan SessionLife = TimeSpan.FromHours(12);

    /// <summary>How long a link opens: whoever asked for it is there, and what stands in a terminal's history or a log later is worth nothing.</summary>
    public static readonly TimeSpan LinkLife = TimeSpan.FromMinutes(15);

    // Unused links that still open; an older one is forgotten.
    private const int MaxTickets = 16;

    // Signed-in browsers; the oldest is signed out.
    private const int MaxSessions = 64;

    // Wrong keys in a minute, from anybody: keys are 256 bits, this only keeps the log and the hashing quiet.
    private const int MaxFailures = 10;

    private readonly ConcurrentDictionary<string, Entry> _tickets = new(StringComparer.Ordinal);
    private readonly ConcurrentDictionary<string, Entry> _sessions = new(StringComparer.Ordinal);
    private readonly Lock _failing = new();
    private readonly ConsoleAccessOptions _options;
    private readonly TimeProvider _time;
    private DateTimeOffset _failuresSince;
    private int _failures;

    public ConsoleAccess(ConsoleAccessOptions options, TimeProvider time)
    {
        _options = options;
        _time = time;
    }

    /// <summary>
    /// A link that signs one browser in, once, within <see cref="LinkLife"/>. For whoever may read the hub's data folder, and for what a start prints on a
    /// terminal, or on a hub whose console nobody but this machine reaches; no other output or log may hold one.
    /// </summary>
    /// <param name="operations">Address of the operations listener.</param>
    public Uri CreateLink(Uri operations)
    {
        var ticket = NewSecret();
        Keep(_tickets, ticket, new(_time.GetUtcNow(), null), MaxTickets);
        return new Uri(operations, $"{ConsoleEndpoints.Path}?ticket={ticket}");
    }

    /// <summary>Uses a ticket up. The session's cookie value; null when the ticket is unknown, used or too old.</summary>
    public string? Redeem(string ticket) =>
        _tickets.TryRemove(Hash(ticket), out var made) && _time.GetUtcNow() - made.Since <= LinkLife ? Open(null) : null;

    /// <summary>The session's cookie value for an admin key; null when it is none, or (<paramref name="isLocked"/>) too many were wrong lately.</summary>
    public string? SignIn(string key, out bool isLocked) => IsAdmin(key, out isLocked) ? Open(KeyHash.Of(key)) : null;

    /// <summary>True for an admin key. After ten wrong ones in a minute every key is refused until the minute is over.</summary>
    public bool IsAdmin(string key) => IsAdmin(key, out _);

    private bool IsAdmin(string key, out bool isLocked)
    {
        lock (_failing)
        {
            var now = _time.GetUtcNow();
            if (now - _failuresSince > TimeSpan.FromMinutes(1))
            {
                (_failuresSince, _failures) = (now, 0);
            }

            isLocked = _failures >= MaxFailures;
            if (isLocked)
            {
                return false;
            }

            if (Holds(key))
            {
                return true;
            }

            _failures++;
            return false;
        }
    }

    /// <summary>The same without counting: for a key that was let in before, and may have been revoked.</summary>
    public bool Holds(string key) => key.Length <= PublisherKeys.SecretCharacters && _options.IsAdmin(KeyHash.Of(key));

    /// <summary>True while the cookie's session lives: 12 hours, and no longer than the key that opened it.</summary>
    public bool IsSignedIn(string cookie) => _sessions.TryGetValue(Hash(cookie), out var session)
        && _time.GetUtcNow() - session.Since < SessionLife && (session.Key is not { } key || _options.IsAdmin(key));

    /// <summary>Ends the cookie's session.</summary>
    public void SignOut(string cookie) => _sessions.TryRemove(Hash(cookie), out _);

    /// <summary>True when the Host header names this machine's loopback or a configured name, whatever the port.</summary>
    public bool IsKnownHost(HostString host) => host.HasValue &&
        (host.Host is "localhost" or "127.0.0.1" or "[::1]" || _options.HostNames.Contains(host.Host, StringComparer.OrdinalIgnoreCase));

    private static string NewSecret() => Base64Url.EncodeToString(RandomNumberGenerator.GetBytes(32));

    private static string Hash(string secret) => Convert.ToHexString(SHA256.HashData(Encoding.UTF8.GetBytes(secret)));

    private static void Keep(ConcurrentDictionary<string, Entry> table, string secret, Entry entry, int most)
    {
        while (table.Count >= most && !table.IsEmpty)
        {
            table.TryRemove(table.MinBy(static known => known.Value.Since).Key, out _);
        }

        table[Hash(secret)] = entry;
    }

    private string Open(KeyHash? key)
    {
        var cookie = NewSecret();
        Keep(_sessions, cookie, new(_time.GetUtcNow(), key), MaxSessions);
        return cookie;
    }

    /// <summary>A ticket or a session.</summary>
    /// <param name="Since">When it was made.</param>
    /// <param name="Key">The key that opened the session; null = a link did.</param>
    private readonly record struct Entry(DateTimeOffset Since, KeyHash? Key);
}
