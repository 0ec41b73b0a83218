using System.Security.Cryptography;
using Pnh.Core.Stores;
using Pnh.Storage.Sqlite;

namespace Pnh.Storage.Registry;

/// <summary>Publisher keys in the registry's database.</summary>
internal sealed class SqlitePublisherKeys : IPublisherKeyStore
{
    private const string Insert = "INSERT OR REPLACE INTO keys(hash, app, scopes, created) VALUES(?, ?, ?, ?)";
    private const string Delete = "DELETE FROM keys WHERE hash = ?";
    private const string Select = "SELECT app, hash, scopes, created FROM keys ORDER BY created, hash";

    private readonly SqliteEngine _engine;

    public SqlitePublisherKeys(SqliteEngine engine) => _engine = engine;

    public async ValueTask<IReadOnlyList<StoredKey>> LoadAsync(CancellationToken cancellationToken) =>
        await _engine.Readers.ReadAsync(0, static (database, _) => Load(database), cancellationToken);

    public Task AddAsync(StoredKey key, CancellationToken cancellationToken)
    {
        cancellationToken.ThrowIfCancellationRequested();
        if (key.Hash.Length != SHA256.HashSizeInBytes)
        {
            throw new ArgumentException("A SHA-256 hash has 32 bytes.", nameof(key));
        }

        return _engine.Writer.WriteAsync(database =>
        {
            database.Statement(Insert).Bind(1, key.Hash.Span).Bind(2, key.App).Bind(3, string.Join(' ', key.Scopes)).Bind(4, key.CreatedAt).Execute();
            return true;
        });
    }

    public Task<bool> RemoveAsync(ReadOnlyMemory<byte> hash, CancellationToken cancellationToken)
    {
        cancellationToken.ThrowIfCancellationRequested();
        return _engine.Writer.WriteAsync(database =>
        {
            database.Statement(Delete).Bind(1, hash.Span).Execute();
            return database.Changes > 0;
        });
    }

    private static List<StoredKey> Load(SqliteDatabase database)
    {
        var keys = new List<StoredKey>();
        var rows = database.Statement(Select);
        while (rows.Read())
        {
            keys.Add(new StoredKey(rows.Text(0), rows.Bytes(1).ToArray(), rows.Text(2).Split(' ', StringSplitOptions.RemoveEmptyEntries), rows.Time(3)));
        }

        return keys;
    }
}
