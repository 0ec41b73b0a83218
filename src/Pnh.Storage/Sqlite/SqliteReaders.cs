using System.Collections.Concurrent;
using Microsoft.Data.Sqlite;
using Pnh.Core.Stores;

namespace Pnh.Storage.Sqlite;

/// <summary>A few read-only connections: reads run beside the writer on the last committed state and never wait for it. Thread-safe.</summary>
internal sealed class SqliteReaders : IAsyncDisposable
{
    // Reads come from the cache; more connections than cores would only hold memory (16 MiB of pages each, at most).
    private const int Connections = 4;

    private readonly SemaphoreSlim _free = new(Connections);
    private readonly ConcurrentBag<SqliteDatabase> _idle = [];
    private readonly string _path;
    private readonly string? _vfs;
    private readonly Action<StoreUnavailableException> _onDamage;

    /// <param name="path">The file, which the writer has opened.</param>
    /// <param name="vfs">As the writer's.</param>
    /// <param name="onDamage">Told when a read found the file damaged, on any thread.</param>
    public SqliteReaders(string path, string? vfs, Action<StoreUnavailableException> onDamage) => (_path, _vfs, _onDamage) = (path, vfs, onDamage);

    /// <summary>Runs <paramref name="read"/> in one short read transaction on a thread of the caller's scheduler (file reads block). Faults leave as StoreUnavailableException.</summary>
    public async Task<T> ReadAsync<TState, T>(TState state, Func<SqliteDatabase, TState, T> read, CancellationToken cancellationToken)
    {
        await _free.WaitAsync(cancellationToken);
        try
        {
            return await Task.Factory.StartNew(() => Read(state, read), cancellationToken, TaskCreationOptions.DenyChildAttach, TaskScheduler.Current);
        }
        finally
        {
            _free.Release();
        }
    }

    /// <summary>Waits for reads under way and closes all connections.</summary>
    public async ValueTask DisposeAsync()
    {
        for (var i = 0; i < Connections; i++)
        {
            await _free.WaitAsync();
        }

        while (_idle.TryTake(out var database))
        {
            database.Dispose();
        }

        // The permits stay taken: a read after this waits for its own cancellation instead of meeting a closed file.
    }

    private T Read<TState, T>(TState state, Func<SqliteDatabase, TState, T> read)
    {
        SqliteDatabase? database = null;
        try
        {
            database = _idle.TryTake(out var idle) ? idle : SqliteDatabase.OpenReader(_path, _vfs);
            database.Statement("BEGIN").Execute();
            var result = read(database, state);
            database.Statement("COMMIT").Execute();
            _idle.Add(database);
            return result;
        }
        catch (Exception exception)
        {
            // A fresh connection next time: this one's state is unknown.
            database?.Dispose();
            if (exception is not SqliteException fault)
            {
                throw;
            }

            // A read breaks no rule of the tables: without one that it names, the file is not ours any more.
            var reason = fault.ToStoreUnavailable(_path);
            if (fault.Fault() == SqliteFault.Damaged)
            {
                _onDamage(reason);
            }

            throw reason;
        }
    }
}
