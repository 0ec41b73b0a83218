using System.Runtime.CompilerServices;
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

    /// <summary>The first page at once, or null when the app's turn did not come within a second; the others as they are asked for, each in its turn, however long that takes.</summary>
    public async ValueTask<IAsyncEnumerable<T>?> InTurnsAsync<T>(string app, IAsyncEnumerable<T> items, CancellationToken cancellationToken)
    {
        var reader = items.GetAsyncEnumerator(cancellationToken);
        var (isRead, first) = await places.ReadAsync(app, _ => TakeAsync(reader), cancellationToken);
        if (isRead)
        {
            return FollowAsync(app, reader, first, cancellationToken);
        }

        await reader.DisposeAsync();
        return null;
    }

    private async IAsyncEnumerable<T> FollowAsync<T>(string app, IAsyncEnumerator<T> reader, List<T> page, [EnumeratorCancellation] CancellationToken cancellationToken)
    {
        await using var ended = reader;
        while (true)
        {
            foreach (var item in page)
            {
                yield return item;
            }

            if (page.Count < PageItems)
            {
                yield break;
            }

            bool isRead;
            do
            {
                (isRead, page) = await places.ReadAsync(app, _ => TakeAsync(reader), cancellationToken);
            }
            while (!isRead);
        }
    }

    private static async ValueTask<List<T>> TakeAsync<T>(IAsyncEnumerator<T> reader)
    {
        var page = new List<T>(PageItems);
        while (page.Count < PageItems && await reader.MoveNextAsync())
        {
            page.Add(reader.Current);
        }

        return page;
    }
}
