using Pnh.Api.Problems;
using Pnh.Core.Intake;

namespace Pnh.Api.Endpoints;

/// <summary>How endpoints read what is kept: each page when it is the app's turn (<see cref="ReaderPlaces"/>). Thread-safe.</summary>
internal sealed class HistoryReads(ReaderPlaces places)
{
    private const int PageItems = 256;

    /// <summary>The answer to a reader whose turn did not come.</summary>
    public static Problem TooMany { get; } = new(
        ProblemCatalogue.TooManyRequests, "Others of this app read history at the same time: read with fewer connections.", retryAfter: ReaderPlaces.Patience);

    /// <summary>A page; <c>IsRead</c> is false, and nothing was read, when the app's turn did not come within a second.</summary>
    public ValueTask<(bool IsRead, T Page)> ReadAsync<T>(string app, Func<CancellationToken, ValueTask<T>> read, CancellationToken cancellationToken) =>
        places.ReadAsync(app, read, cancellationToken);

    /// <summary>Writes a page that was read, off the threads that answer calls: it is much to write.</summary>
    public Task WriteAsync(Func<Task> write) => places.WriteAsync(write);

    /// <summary>
    /// Writes items page by page, each page in the app's turn: read and written then, sent after. False when the turn did not come within a second for the first one, and nothing was written;
    /// the others wait for theirs as long as that takes.
    /// </summary>
    /// <typeparam name="T">The item.</typeparam>
    /// <param name="app">Whose reader.</param>
    /// <param name="items">What is read.</param>
    /// <param name="write">Writes one, without sending.</param>
    /// <param name="sendAsync">Sends what is written; waits for the caller.</param>
    /// <param name="cancellationToken">Ends it.</param>
    public async ValueTask<bool> WriteAsync<T>(string app, IAsyncEnumerable<T> items, Action<T> write, Func<ValueTask> sendAsync, CancellationToken cancellationToken)
    {
        await using var reader = items.GetAsyncEnumerator(cancellationToken);
        for (var isFirst = true; ; isFirst = false)
        {
            var (isRead, count) = await places.ReadAsync(app, _ => WritePageAsync(reader, write), cancellationToken);
            if (!isRead && isFirst)
            {
                return false;
            }

            await sendAsync();
            if (isRead && count < PageItems)
            {
                return true;
            }
        }
    }

    private static async ValueTask<int> WritePageAsync<T>(IAsyncEnumerator<T> reader, Action<T> write)
    {
        var count = 0;
        for (; count < PageItems && await reader.MoveNextAsync(); count++)
        {
            write(reader.Current);
        }

        return count;
    }
}
