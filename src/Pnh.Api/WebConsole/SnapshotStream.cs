using Pnh.Api.Problems;

namespace Pnh.Api.WebConsole;

/// <summary>A viewer's connection: server-sent events (https://html.spec.whatwg.org/multipage/server-sent-events.html).</summary>
internal sealed class SnapshotStream
{
    private readonly SnapshotFeed _feed;
    private readonly ConsoleAccess _access;
    private readonly IHostApplicationLifetime _lifetime;

    public SnapshotStream(SnapshotFeed feed, ConsoleAccess access, IHostApplicationLifetime lifetime)
    {
        _feed = feed;
        _access = access;
        _lifetime = lifetime;
    }

    /// <summary>
    /// Until the viewer goes, is signed in no more, or the hub stops: an endless answer would hold the shutdown up, and show the hub to a key that was revoked.
    /// </summary>
    public async Task RunAsync(HttpContext context)
    {
        if (_feed.Join() is not { } snapshots)
        {
            await new Problem(ProblemCatalogue.Overloaded, "Too many consoles are open.", retryAfter: TimeSpan.FromSeconds(10)).ExecuteAsync(context);
            return;
        }

        using var ending = CancellationTokenSource.CreateLinkedTokenSource(context.RequestAborted, _lifetime.ApplicationStopping);
        try
        {
            context.Response.ContentType = "text/event-stream";
            context.Response.Headers.CacheControl = "no-store";
            await foreach (var snapshot in snapshots.ReadAllAsync(ending.Token))
            {
                if (!ConsoleGate.MayGoOn(context, _access))
                {
                    return;
                }

                await context.Response.Body.WriteAsync(snapshot, ending.Token);
                await context.Response.Body.FlushAsync(ending.Token);
            }
        }
        catch (OperationCanceledException) when (ending.IsCancellationRequested)
        {
            // Nobody reads on.
        }
        finally
        {
            _feed.Leave(snapshots);
        }
    }
}
