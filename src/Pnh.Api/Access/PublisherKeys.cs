using System.Collections.Concurrent;
using System.Collections.Frozen;

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

    /// <summary>With the keys of the configuration.</summary>
    public PublisherKeys(IEnumerable<PublisherKey> configured)
    {
        _configured = configured.ToFrozenDictionary(static key => key.Hash, static key => Caller.OfPublisher(key.App, key.Scopes));
    }

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

        return Find(KeyHash.Of(secret));
    }

    /// <summary>The same of a key's hash.</summary>
    public Caller? Find(KeyHash hash) => _configured.TryGetValue(hash, out var caller) || _added.TryGetValue(hash, out caller) ? caller : null;

    /// <summary>The configuration's keys of an app.</summary>
    public IEnumerable<PublisherKey> ConfiguredOf(string app) =>
        _configured.Where(entry => entry.Value.App == app).Select(static entry => new PublisherKey(entry.Key, entry.Value.App, entry.Value.Scopes));

    /// <summary>Takes up a key from now on; false when it is known already.</summary>
    public bool Add(PublisherKey key) => !_configured.ContainsKey(key.Hash) && _added.TryAdd(key.Hash, Caller.OfPublisher(key.App, key.Scopes));

    /// <summary>From now on nobody holds the key, also where its holder is remembered; false when it was none of those added.</summary>
    public bool Remove(KeyHash hash)
    {
        var wasThere = _added.TryRemove(hash, out var caller);
        caller?.Revoke();
        return wasThere;
    }
}
