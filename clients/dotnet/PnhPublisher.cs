using System.Runtime.CompilerServices;
using System.Text.Json;
using Pnh.Client.Events;
using Pnh.Client.Http;
using Pnh.Client.Reports;

namespace Pnh.Client;

/// <summary>
/// A back-end's way to the hub: sends events, and tells what became of them. An event that was not answered is sent again with the same id, so it is never delivered twice. Thread-safe; one for the process.
/// </summary>
public sealed class PnhPublisher : IDisposable
{
    private readonly PnhPublisherOptions _options;
    private readonly HubRequests _requests;

    /// <summary>With a hub and a key.</summary>
    public PnhPublisher(PnhPublisherOptions options)
    {
        ArgumentNullException.ThrowIfNull(options);
        _options = options;
        _requests = new HubRequests(options);
    }

    /// <summary>Sends an event. A durable one is on stable storage when this returns. Throws <see cref="PnhException"/> when the hub refuses it, or could not take it for as long as was tried.</summary>
    public async Task<PnhReceipt> SendAsync(PnhEvent message, CancellationToken cancellationToken = default) =>
        (await _requests.AskAsync(HttpMethod.Post, "/v1/events", Write(message), PnhJson.Default.PnhReceipt, isMissingNull: false, cancellationToken).ConfigureAwait(false))!;

    /// <summary>
    /// Sends many events in one request, and in further ones what a break or an overload left unanswered. The answers, in the order of the events. Throws <see cref="PnhException"/> when the hub refuses the request itself,
    /// or gave no answer to some of them for as long as was tried; those may have been taken.
    /// </summary>
    public async Task<IReadOnlyList<PnhAnswer>> SendAsync(IReadOnlyList<PnhEvent> messages, CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(messages);
        var batch = new Batch([.. messages.Select(Write)]);
        var attempts = new HubRequests.Attempts(_options.RetryFor, _options.Time);
        while (!batch.IsComplete)
        {
            if (!await batch.TrySendAsync(_requests, attempts, cancellationToken).ConfigureAwait(false))
            {
                await attempts.WaitAsync(cancellationToken).ConfigureAwait(false);
            }
        }

        return batch.Answers;
    }

    /// <summary>What the hub would do with the event now; nothing is sent. Of a topic the first 100 members.</summary>
    public async Task<PnhPlan> ExplainAsync(PnhEvent message, CancellationToken cancellationToken = default) =>
        (await _requests.AskAsync(HttpMethod.Post, "/v1/events:explain", Write(message), PnhJson.Default.PnhPlan, isMissingNull: false, cancellationToken).ConfigureAwait(false))!;

    /// <summary>What became of an event. Null = there is none of this id: it was never taken, or is past its retention.</summary>
    public Task<PnhTimeline?> FindAsync(string id, CancellationToken cancellationToken = default) =>
        _requests.AskAsync(HttpMethod.Get, $"/v1/events/{Uri.EscapeDataString(id)}", null, PnhJson.Default.PnhTimeline, isMissingNull: true, cancellationToken);

    /// <summary>What a user had, newest first, as far as it is read. Throws <see cref="PnhException"/>.</summary>
    /// <param name="user">Whose.</param>
    /// <param name="filter">Which; null = all.</param>
    /// <param name="cancellationToken">Ends it.</param>
    public async IAsyncEnumerable<PnhUserEvent> ListEventsAsync(string user, PnhUserEventFilter? filter = null, [EnumeratorCancellation] CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(user);
        var query = Query("device", filter?.Device) + Query("state", filter?.State) + Query("since", filter?.Since?.ToString("O"));
        string? next = null;
        do
        {
            var page = await _requests.AskAsync(
                HttpMethod.Get, $"/v1/users/{Uri.EscapeDataString(user)}/events?limit=50{query}{Query("before", next)}", null, PnhJson.Default.UserEventPage, isMissingNull: false, cancellationToken).ConfigureAwait(false);
            foreach (var one in page!.Events)
            {
                yield return one;
            }

            next = page.Next;
        }
        while (next is not null);
    }

    /// <summary>The devices and settings of a user.</summary>
    public async Task<PnhUser> FindUserAsync(string user, CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(user);
        return (await _requests.AskAsync(HttpMethod.Get, $"/v1/users/{Uri.EscapeDataString(user)}", null, PnhJson.Default.PnhUser, isMissingNull: false, cancellationToken).ConfigureAwait(false))!;
    }

    /// <summary>Where a user is at this moment.</summary>
    public async Task<PnhPresence> GetPresenceAsync(string user, CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(user);
        return (await _requests.AskAsync(HttpMethod.Get, $"/v1/users/{Uri.EscapeDataString(user)}/presence", null, PnhJson.Default.PnhPresence, isMissingNull: false, cancellationToken).ConfigureAwait(false))!;
    }

    /// <summary>Takes an event back, from everybody or from one user. False = there is none of this id.</summary>
    /// <param name="id">The event's.</param>
    /// <param name="reason">What its devices are told; null = <c>withdrawn</c>.</param>
    /// <param name="user">From whom alone; null = from everybody.</param>
    /// <param name="cancellationToken">Ends the attempts.</param>
    public async Task<bool> WithdrawAsync(string id, string? reason = null, string? user = null, CancellationToken cancellationToken = default)
    {
        var body = JsonSerializer.SerializeToUtf8Bytes(new WithdrawBody(reason, user), PnhJson.Default.WithdrawBody);
        return await _requests.AskAsync(HttpMethod.Post, $"/v1/events/{Uri.EscapeDataString(id)}/withdraw", body, PnhJson.Default.WithdrawAnswer, isMissingNull: true, cancellationToken).ConfigureAwait(false) is not null;
    }

    /// <summary>
    /// Follows what becomes of all events of the app, oldest first, each at least once, over breaks and restarts of the hub, until it is cancelled. Keep <see cref="PnhFeedEntry.Cursor"/> where it outlives the process, and
    /// give it to the next call. Throws <see cref="PnhException"/> when the hub refuses.
    /// </summary>
    /// <param name="after">A cursor of an earlier line. Null = from the oldest that is kept.</param>
    /// <param name="cancellationToken">Ends it.</param>
    public async IAsyncEnumerable<PnhFeedEntry> FollowAsync(string? after = null, [EnumeratorCancellation] CancellationToken cancellationToken = default)
    {
        await using var feed = new Feed(_requests, new HubRequests.Attempts(TimeSpan.MaxValue, _options.Time), after);
        while (true)
        {
            if (await feed.ReadAsync(cancellationToken).ConfigureAwait(false) is { } entry)
            {
                yield return entry;
            }
        }
    }

    /// <inheritdoc/>
    public void Dispose() => _requests.Dispose();

    private static byte[] Write(PnhEvent message)
    {
        ArgumentNullException.ThrowIfNull(message);
        return JsonSerializer.SerializeToUtf8Bytes(message.Id is null ? message with { Id = Guid.CreateVersion7().ToString() } : message, PnhJson.Default.PnhEvent);
    }

    private static string Query(string name, string? value) => value is null ? "" : $"&{name}={Uri.EscapeDataString(value)}";
}
