using System.Security.Cryptography;
using Pnh.Core.Stores;

namespace Pnh.Storage.Postgres.Registry;

/// <summary>Publisher keys in the registry's database.</summary>
internal sealed class PostgresPublisherKeys(PostgresDatabase database, PostgresWriter writer) : IPublisherKeyStore
{
    private const string Upsert = """
        INSERT INTO pnh.keys(hash, app, scopes, created) VALUES($1, $2, $3, $4)
        ON CONFLICT(hash) DO UPDATE SET app = excluded.app, scopes = excluded.scopes, created = excluded.created
        """;

    public async ValueTask<IReadOnlyList<StoredKey>> LoadAsync(CancellationToken cancellationToken) => await database.ReadAsync(
        static batch => batch.Add("SELECT app, hash, scopes, created FROM pnh.keys ORDER BY created, hash"),
        async rows =>
        {
            var keys = new List<StoredKey>();
            while (await rows.ReadAsync(cancellationToken).ConfigureAwait(false))
            {
                keys.Add(new StoredKey(rows.GetString(0), rows.Bytes(1), rows.Texts(2), rows.Time(3)));
            }

            return keys;
        },
        cancellationToken).ConfigureAwait(false);

    public Task AddAsync(StoredKey key, CancellationToken cancellationToken)
    {
        cancellationToken.ThrowIfCancellationRequested();
        return key.Hash.Length == SHA256.HashSizeInBytes
            ? writer.WriteAsync(
                new PlainWrite<bool>([KeyOf(key.Hash)], batch => batch.Add(Upsert).With(key.Hash.ToArray()).With(key.App).With(key.Scopes).With(key.CreatedAt), static _ => true), cancellationToken)
            : throw new ArgumentException("A SHA-256 hash has 32 bytes.", nameof(key));
    }

    public Task<bool> RemoveAsync(ReadOnlyMemory<byte> hash, CancellationToken cancellationToken) => writer.WriteAsync(
        new PlainWrite<bool>([KeyOf(hash)], batch => batch.Add("DELETE FROM pnh.keys WHERE hash = $1").With(hash.ToArray()), static changed => changed[0] > 0), cancellationToken);

    private static (string Kind, string Of) KeyOf(ReadOnlyMemory<byte> hash) => ("key", Convert.ToHexString(hash.Span));
}
