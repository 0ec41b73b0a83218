namespace Pnh.Core.Stores;

/// <summary>
/// Publisher keys that were made at run time (<c>pnh key add</c>). Thread-safe. Faults throw <see cref="StoreUnavailableException"/>.
/// </summary>
public interface IPublisherKeyStore
{
    /// <summary>All keys of all apps, oldest first. Read at start; a few thousand at most.</summary>
    ValueTask<IReadOnlyList<StoredKey>> LoadAsync(CancellationToken cancellationToken);

    /// <summary>Keeps a key; when the task completes it is on stable storage. A key with the same hash is replaced.</summary>
    Task AddAsync(StoredKey key, CancellationToken cancellationToken);

    /// <summary>Forgets the key with this hash; when the task completes that is on stable storage. False when there was none.</summary>
    Task<bool> RemoveAsync(ReadOnlyMemory<byte> hash, CancellationToken cancellationToken);
}

/// <summary>A publisher key as it is kept: never the key itself.</summary>
/// <param name="App">The app it speaks for.</param>
/// <param name="Hash">SHA-256 of the key's UTF-8 bytes, 32 bytes.</param>
/// <param name="Scopes">What it may do, e.g. <c>send</c>, <c>register</c>, <c>read</c>, <c>admin</c>; no spaces inside one.</param>
/// <param name="CreatedAt">When it was made.</param>
public sealed record StoredKey(string App, ReadOnlyMemory<byte> Hash, IReadOnlyList<string> Scopes, DateTimeOffset CreatedAt);
