using Pnh.Api.Access;
using Pnh.Api.Bodies;
using Pnh.Api.Routing;
using Pnh.Core.Journal;

namespace Pnh.Api.Endpoints;

/// <summary>
/// Outcomes and address health as lines, oldest first, from a cursor on. The answer stays open and follows, until its reader goes or has no key any more, or
/// the hub stops; the reader goes on from the last cursor it has.
/// </summary>
internal sealed class FeedEndpoint
{
    // 256 lines are some 60 kB: all that is held of a feed, however far behind its reader is.
    private const int PageEntries = 256;
    private static readonly TimeSpan LookAgain = TimeSpan.FromMilliseconds(250);

    // Under the 30 to 60 s after which load balancers close what stands still.
    private static readonly TimeSpan KeepAlive = TimeSpan.FromSeconds(15);
    private readonly IEventJournal _journal;
    private readonly HistoryReads _reads;
    private readonly TimeProvider _time;
    private readonly IHostApplicationLifetime _lifetime;

    public FeedEndpoint(IEventJournal journal, HistoryReads reads, TimeProvider time, IHostApplicationLifetime lifetime)
    {
        _journal = journal;
        _reads = reads;
        _time = time;
        _lifetime = lifetime;
    }

    public void Map(IEndpointRouteBuilder routes) => routes.MapGet("/v1/feed", ReadAsync).RequireScope(Scope.Read).TakesQuery("after", "follow", "user", "state");

    private async Task ReadAsync(HttpContext context)
    {
        var query = new QueryReader(context);
        var (after, isFollowing) = (query.Text("after"), query.Flag("follow", absent: true));
        var filter = new FeedFilter(query.Name("user"), query.State("state"));
        if (query.Problem is { } problem)
        {
            await problem.ExecuteAsync(context);
            return;
        }

        using var end = CancellationTokenSource.CreateLinkedTokenSource(context.RequestAborted, _lifetime.ApplicationStopping);
        try
        {
            await using var lines = new FeedLines(context.Response.BodyWriter);
            var (isRead, first) = await WritePageAsync(lines, filter, Caller.Of(context).App, after, end.Token);
            if (!isRead)
            {
                await HistoryReads.TooMany.ExecuteAsync(context);
                return;
            }

            context.Response.ContentType = RequestBody.Ndjson;
            context.Response.Headers.CacheControl = "no-store";
            await SendAsync(context, lines, first, filter, isFollowing, end.Token);
        }
        catch (FormatException) when (!context.Response.HasStarted)
        {
            await QueryReader.NoCursor("after").ExecuteAsync(context);
        }
        catch (OperationCanceledException) when (end.IsCancellationRequested)
        {
            // The reader has gone, or the hub stops: what was sent is whole lines, each with its cursor.
        }
    }

    private async Task SendAsync(HttpContext context, FeedLines lines, (FeedPage Page, bool HasLines) written, FeedFilter filter, bool isFollowing, CancellationToken end)
    {
        var reader = Caller.Of(context);
        var lastLine = _time.GetTimestamp();

        // Before the first line: who follows a quiet app learns that it is connected.
        await context.Response.StartAsync(end);
        while (true)
        {
            if (written.HasLines)
            {
                lastLine = _time.GetTimestamp();
            }
            else if (_time.GetElapsedTime(lastLine) >= KeepAlive)
            {
                lines.WriteIdle(written.Page.Next);
                lastLine = _time.GetTimestamp();
            }

            await lines.FlushAsync(end);
            if (written.Page.IsEnd)
            {
                if (!isFollowing)
                {
                    return;
                }

                await Task.Delay(LookAgain, _time, end);
            }

            // Its turn may come late: a reader that has begun waits for it.
            var (isRead, after) = (false, written.Page.Next);
            while (!isRead)
            {
                if (reader.IsRevoked)
                {
                    return;
                }

                (isRead, written) = await WritePageAsync(lines, filter, reader.App, after, end);
            }
        }
    }

    /// <summary>Reads a page and writes its lines, which are sent later, in the app's turn.</summary>
    private ValueTask<(bool IsRead, (FeedPage Page, bool HasLines) Written)> WritePageAsync(FeedLines lines, FeedFilter filter, string app, string? after, CancellationToken end) => _reads.ReadAsync(
        app,
        async over =>
        {
            var page = await _journal.ReadFeedAsync(app, after, PageEntries, over);
            return (page, lines.WritePage(page, filter));
        },
        end);
}
