using System.Threading.Channels;
using Npgsql;
using Pnh.Core.Stores;

namespace Pnh.Storage.Postgres.Registry;

/// <summary>
/// The one session that writes the registry; it holds the registry's advisory lock, so no other process writes beside it. What came during one commit is the next group's. A broken session is opened again, with
/// its lock, before anything is written. Thread-safe.
/// </summary>
internal sealed class PostgresWriter : IAsyncDisposable
{
    private const int MostWrites = 256;
    private readonly Func<CancellationToken, Task<NpgsqlConnection>> _openAsync;
    private readonly Channel<PostgresWrite> _queue = Channel.CreateUnbounded<PostgresWrite>(new UnboundedChannelOptions { SingleReader = true });
    private readonly Task _run;
    private NpgsqlConnection? _session;
    private volatile string? _closed;

    /// <param name="session">Open, with its lock.</param>
    /// <param name="openAsync">Opens another one with the lock; throws what <see cref="PostgresFault.Is"/> knows, or <see cref="StoreUnavailableException"/>.</param>
    public PostgresWriter(NpgsqlConnection session, Func<CancellationToken, Task<NpgsqlConnection>> openAsync)
    {
        (_session, _openAsync) = (session, openAsync);
        _run = Task.Run(RunAsync);
    }

    /// <summary>Why nothing is written now; null = the last group was written.</summary>
    public string? Refusal { get; private set; }

    /// <summary>Queues the write; its answer comes after the commit.</summary>
    public Task<T> WriteAsync<T>(PostgresWrite<T> write, CancellationToken cancellationToken)
    {
        cancellationToken.ThrowIfCancellationRequested();
        if (_closed is { } why || !_queue.Writer.TryWrite(write))
        {
            return Task.FromException<T>(new StoreUnavailableException(_closed ?? "The registry is closed."));
        }

        return write.Answer;
    }

    /// <summary>Nothing is written from now on, for good.</summary>
    public void Close(string why) => _closed ??= why;

    /// <summary>Writes what is queued and ends the session.</summary>
    public async ValueTask DisposeAsync()
    {
        _queue.Writer.TryComplete();
        await _run.ConfigureAwait(false);
        await EndSessionAsync().ConfigureAwait(false);
    }

    private async Task RunAsync()
    {
        var group = new List<PostgresWrite>(MostWrites);
        var keys = new HashSet<(string Kind, string Of)>();
        while (await _queue.Reader.WaitToReadAsync().ConfigureAwait(false))
        {
            group.Clear();
            keys.Clear();

            // In order: the first that meets another begins the next group.
            while (group.Count < MostWrites && _queue.Reader.TryPeek(out var next))
            {
                var own = next.Keys.ToList();
                if (own.Exists(keys.Contains))
                {
                    break;
                }

                _queue.Reader.TryRead(out _);
                keys.UnionWith(own);
                group.Add(next);
            }

            await CommitAsync(group).ConfigureAwait(false);
        }
    }

    private async Task CommitAsync(List<PostgresWrite> group)
    {
        try
        {
            await WriteAsync(group).ConfigureAwait(false);
            Refusal = null;
        }
        catch (Exception fault) when (PostgresFault.IsOfData(fault) && group.Count > 1)
        {
            // One of them cannot be written: the others are not to hear of it.
            foreach (var one in group)
            {
                await CommitAsync([one]).ConfigureAwait(false);
            }
        }
        catch (Exception fault)
        {
            if (!PostgresFault.IsOfData(fault))
            {
                Refusal = PostgresFault.Of(fault).Message;
                await EndSessionAsync().ConfigureAwait(false);
            }

            foreach (var one in group)
            {
                one.Fail(PostgresFault.Is(fault) ? PostgresFault.Of(fault) : fault);
            }
        }
    }

    private async Task WriteAsync(List<PostgresWrite> group)
    {
        if (_closed is { } why)
        {
            throw new StoreUnavailableException(why);
        }

        var session = _session ??= await _openAsync(CancellationToken.None).ConfigureAwait(false);
        await ReadAsync(session, group).ConfigureAwait(false);
        await using var batch = session.CreateBatch();
        var counts = group.ConvertAll(write =>
        {
            var before = batch.BatchCommands.Count;
            write.Write(batch);
            return batch.BatchCommands.Count - before;
        });
        if (batch.BatchCommands.Count > 0)
        {
            await batch.ExecuteNonQueryAsync().ConfigureAwait(false);
        }

        var at = 0;
        for (var i = 0; i < group.Count; i++)
        {
            group[i].Complete([.. Enumerable.Range(at, counts[i]).Select(n => (int)batch.BatchCommands[n].RecordsAffected)]);
            at += counts[i];
        }
    }

    // What they decide on, all in one round trip.
    private static async Task ReadAsync(NpgsqlConnection session, List<PostgresWrite> group)
    {
        await using var batch = session.CreateBatch();
        var counts = group.ConvertAll(write => write.Ask(batch));
        if (batch.BatchCommands.Count == 0)
        {
            return;
        }

        await using var rows = await batch.ExecuteReaderAsync().ConfigureAwait(false);
        for (var i = 0; i < group.Count; i++)
        {
            for (var n = 0; n < counts[i]; n++)
            {
                await group[i].ReadAsync(n, rows, CancellationToken.None).ConfigureAwait(false);
                await rows.NextResultAsync().ConfigureAwait(false);
            }
        }
    }

    private async Task EndSessionAsync()
    {
        if (_session is { } session)
        {
            _session = null;
            await session.DisposeAsync().ConfigureAwait(false);
        }
    }
}
