using System.Collections.Concurrent;
using System.Collections.Frozen;
using Pnh.Api.Configuration;

namespace Pnh.Api.Access;

/// <summary>
/// All publisher keys: those of the configuration, fixed, and those added at run time. Knows only hashes. Thread-safe; a look-up takes one
/// SHA-256 and no lock, and allocates nothing.
/// </summary>
internal sealed class PublisherKeys
{
    /// <summary>Longest key taken; longer ones are refused unread.</summary>
    public const int SecretCharacters = 256;

    private readonly FrozenDictionary<KeyHash, Caller> _configured;
    private readonly ConcurrentDictionary<KeyHash, Caller> _added = new();
    private int _version;

    /// <summary>With the keys of the configuration.</summary>
    public PublisherKeys(IEnumerable<PublisherKey> configured)
    {
        _configured = configured.ToFrozenDictionary(static key => key.Hash, static key => Caller.OfPublisher(key.App, key.Scopes));
    }

    /// <summary>Another number after each change: who remembers what <see cref="Find"/> said must ask again then.</summary>
    public int Version => Volatile.Read(ref _version);

    /// <summary>The keys of all configured apps.</summary>
    public static PublisherKeys From(IEnumerable<AppOptions> apps) =>
        new(apps.SelectMany(static app => app.Keys.Select(key => new PublisherKey(key.Hash, app.Name, key.Scopes))));

    /// <summary>Who holds the key; null when nobody does. The same object each time.</summary>
    public Caller? Find(ReadOnlySpan<char> secret)
    {
        if (secret.IsEmpty || secret.Length > SecretCharacters)
        {
            return null;
        }

        var hash = KeyHash.Of(secret);
        return _configured.TryGetValue(hash, out var caller) || _added.TryGetValue(hash, out caller) ? caller : null;
    }

    /// <summary>Takes up a key from now on; false when it is known already.</summary>
    public bool Add(PublisherKey key)
    {
        var isNew = !_configured.ContainsKey(key.Hash) && _added.TryAdd(key.Hash, Caller.OfPublisher(key.App, key.Scopes));
        Interlocked.Increment(ref _version);
        return isNew;
    }
}
