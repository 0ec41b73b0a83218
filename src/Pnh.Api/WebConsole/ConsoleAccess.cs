using System.Buffers.Text;
using System.Collections.Concurrent;
using System.Security.Cryptography;
using System.Text;
using Pnh.Api.Access;
using Pnh.Api.Listeners;

namespace Pnh.Api.WebConsole;

/// <summary>
/// Tickets, in memory, and sessions (<see cref="ConsoleSessions"/>) of the console. Only hashes are kept, so that a lookup's time says nothing of the secret. Wrong keys
/// lock nobody out: keys are 256 bits, so there is nothing to guess. Thread-safe.
/// </summary>
internal sealed class ConsoleAccess
{
    /// <summary>How long a link opens: the user who asked for it is there, and what stands in a terminal's history or a log later is worth nothing.</summary>
    public static readonly TimeSpan LinkLife = TimeSpan.FromMinutes(15);

    // Unused links that still open; an older one is forgotten.
    private const int MaxTickets = 16;

    private readonly ConcurrentDictionary<string, DateTimeOffset> _tickets = new(StringComparer.Ordinal);
    private readonly ConsoleSessions _sessions;
    private readonly ConsoleAccessOptions _options;
    private readonly KnownHosts _hosts;
    private readonly TimeProvider _time;

    public ConsoleAccess(ConsoleAccessOptions options, TimeProvider time)
    {
        _options = options;
        _hosts = new KnownHosts(options.HostNames);
        _time = time;
        _sessions = new ConsoleSessions(options.SessionsFile, time);
    }

    /// <summary>
    /// A link that signs one browser in, once, within <see cref="LinkLife"/>. For a user who may read the hub's data folder, and for what a start prints on a
    /// terminal, or on a hub whose console nobody but this machine reaches; no other output or log may hold one.
    /// </summary>
    /// <param name="operations">Address of the operations listener.</param>
    public Uri CreateLink(Uri operations)
    {
        var ticket = NewSecret();
        Keep(ticket);
        return new Uri(operations, $"{ConsoleEndpoints.Path}?ticket={ticket}");
    }

    /// <summary>Uses a ticket up. The session's cookie value; null when the ticket is unknown, used or too old.</summary>
    public string? Redeem(string ticket) =>
        _tickets.TryRemove(Hash(ticket), out var made) && _time.GetUtcNow() - made <= LinkLife ? _sessions.Open(null) : null;

    /// <summary>The session's cookie value for an admin key; null when it is not one.</summary>
    public string? SignIn(string key) => IsAdmin(key) ? _sessions.Open(KeyHash.Of(key)) : null;

    /// <summary>True for a key that may administer now.</summary>
    public bool IsAdmin(string key) => key.Length <= PublisherKeys.SecretCharacters && _options.IsAdmin(KeyHash.Of(key));

    /// <summary>
    /// True while the cookie's session lives: 12 hours, 30 minutes after its last request (<paramref name="isRequest"/> = this is one), and no longer than the key that
    /// opened it.
    /// </summary>
    public bool IsSignedIn(string cookie, bool isRequest = true) =>
        _sessions.TryFind(cookie, isRequest, out var key) && (key is not { } opener || _options.IsAdmin(opener));

    /// <summary>Ends the cookie's session.</summary>
    public void SignOut(string cookie) => _sessions.Close(cookie);

    /// <summary>True when the Host header names this machine's loopback or a configured name, whatever the port.</summary>
    public bool IsKnownHost(HostString host) => _hosts.Contains(host);

    /// <summary>The same for what is no page.</summary>
    public bool MayScrape(HostString host) => _hosts.MayScrape(host);

    private static string NewSecret() => Base64Url.EncodeToString(RandomNumberGenerator.GetBytes(32));

    private static string Hash(string secret) => Convert.ToHexString(SHA256.HashData(Encoding.UTF8.GetBytes(secret)));

    private void Keep(string ticket)
    {
        while (_tickets.Count >= MaxTickets && !_tickets.IsEmpty)
        {
            _tickets.TryRemove(_tickets.MinBy(static known => known.Value).Key, out _);
        }

        _tickets[Hash(ticket)] = _time.GetUtcNow();
    }
}
