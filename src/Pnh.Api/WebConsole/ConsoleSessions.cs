using System.Buffers.Text;
using System.Globalization;
using System.Security.Cryptography;
using System.Text;
using Pnh.Api.Access;
using Pnh.Storage.Files;

namespace Pnh.Api.WebConsole;

/// <summary>
/// Browsers that are signed in, also over a restart: hashes of their cookies, in memory and in a file of the data folder (mode 0600). A file that cannot be
/// written costs a sign-in after the restart, nothing else. Thread-safe.
/// </summary>
internal sealed class ConsoleSessions
{
    /// <summary>How long a browser stays signed in at most.</summary>
    public static readonly TimeSpan Life = TimeSpan.FromHours(12);

    /// <summary>How long without a request; an open stream does not count as one.</summary>
    public static readonly TimeSpan IdleLife = TimeSpan.FromMinutes(30);

    // The oldest is signed out.
    private const int Most = 64;

    // What a crash may take from the time of the last request.
    private static readonly TimeSpan WriteEvery = TimeSpan.FromMinutes(1);

    private readonly Lock _gate = new();
    private readonly Dictionary<string, Session> _sessions = new(StringComparer.Ordinal);
    private readonly string? _file;
    private readonly TimeProvider _time;

    /// <param name="file">Where they are kept; null = in memory alone.</param>
    /// <param name="time">The clock.</param>
    public ConsoleSessions(string? file, TimeProvider time)
    {
        (_file, _time) = (file, time);
        Read();
    }

    /// <summary>A new session's cookie value.</summary>
    /// <param name="key">The key that opened it; null = a link did.</param>
    public string Open(KeyHash? key)
    {
        var cookie = Base64Url.EncodeToString(RandomNumberGenerator.GetBytes(32));
        var now = _time.GetUtcNow();
        lock (_gate)
        {
            while (_sessions.Count >= Most)
            {
                _sessions.Remove(_sessions.MinBy(static known => known.Value.Since).Key);
            }

            _sessions[Hash(cookie)] = new(now, now, now, key);
            Write();
        }

        return cookie;
    }

    /// <summary>Whether the cookie's session lives, and the key that opened it. <paramref name="isRequest"/>: its 30 minutes begin anew.</summary>
    public bool TryFind(string cookie, bool isRequest, out KeyHash? key)
    {
        key = null;
        var (hash, now) = (Hash(cookie), _time.GetUtcNow());
        lock (_gate)
        {
            if (!_sessions.TryGetValue(hash, out var session) || now - session.Since >= Life || now - session.Used >= IdleLife)
            {
                return false;
            }

            key = session.Key;
            if (isRequest)
            {
                var isDue = now - session.Written >= WriteEvery;
                _sessions[hash] = session with { Used = now, Written = isDue ? now : session.Written };
                if (isDue)
                {
                    Write();
                }
            }

            return true;
        }
    }

    /// <summary>Ends the cookie's session.</summary>
    public void Close(string cookie)
    {
        lock (_gate)
        {
            if (_sessions.Remove(Hash(cookie)))
            {
                Write();
            }
        }
    }

    private static string Hash(string secret) => Convert.ToHexString(SHA256.HashData(Encoding.UTF8.GetBytes(secret)));

    private void Read()
    {
        try
        {
            foreach (var line in _file is not null && File.Exists(_file) ? File.ReadAllLines(_file) : [])
            {
                if (line.Split(' ') is [var hash, var since, var used, var key] && TryTime(since, out var from) && TryTime(used, out var last))
                {
                    var isByKey = KeyHash.TryParse(key, out var by);
                    if (isByKey || key == "link")
                    {
                        _sessions[hash] = new(from, last, last, isByKey ? by : null);
                    }
                }
            }
        }
        catch (Exception fault) when (fault is IOException or UnauthorizedAccessException)
        {
            // Everybody signs in again.
        }
    }

    private static bool TryTime(string text, out DateTimeOffset time) =>
        DateTimeOffset.TryParseExact(text, "O", CultureInfo.InvariantCulture, DateTimeStyles.None, out time);

    /// <summary>Under the gate.</summary>
    private void Write()
    {
        if (_file is null)
        {
            return;
        }

        try
        {
            ReplacedFile.WriteLines(_file, _sessions.Select(static known => string.Create(
                CultureInfo.InvariantCulture, $"{known.Key} {known.Value.Since:O} {known.Value.Used:O} {known.Value.Key?.ToHex() ?? "link"}")));
        }
        catch (Exception fault) when (fault is IOException or UnauthorizedAccessException)
        {
            // It stands in memory.
        }
    }

    /// <param name="Since">When it was opened.</param>
    /// <param name="Used">When the browser asked last.</param>
    /// <param name="Written">When that was written last.</param>
    /// <param name="Key">The key that opened it; null = a link did.</param>
    private readonly record struct Session(DateTimeOffset Since, DateTimeOffset Used, DateTimeOffset Written, KeyHash? Key);
}
