using Pnh.Core.Events;
using Pnh.Core.Journal;

namespace Pnh.Benchmarks;

/// <summary>A journal that says yes at once and keeps nothing: the hub's part without the journal's.</summary>
internal sealed class NullJournal : IEventJournal
{
    public ValueTask<AppendResult> AppendAsync(Event accepted, CancellationToken cancellationToken) => new(AppendResult.Appended);

    public void Note(in Milestone milestone)
    {
    }

    public void Finish(string app, string id)
    {
    }

    public void NoteAddress(in AddressNote note)
    {
    }

    public ValueTask<WithdrawResult> WithdrawAsync(
        string app, string id, string? user, string reason, DateTimeOffset at, CancellationToken cancellationToken) =>
        new(new WithdrawResult(WithdrawStatus.Unknown));

    public ValueTask<EventHistory?> ReadAsync(string app, string id, CancellationToken cancellationToken) => new((EventHistory?)null);

    public ValueTask<StoredEvent?> FindAsync(string app, string id, CancellationToken cancellationToken) => new((StoredEvent?)null);

    public ValueTask<UserEventPage> ReadUserAsync(string app, string user, string? before, int limit, CancellationToken cancellationToken) =>
        throw new NotSupportedException();

    public ValueTask<UserEventPage> ReadFailuresAsync(string app, string? before, int limit, CancellationToken cancellationToken) =>
        throw new NotSupportedException();

    public ValueTask<UserEventPage> ReadRecentAsync(string app, string? before, int limit, CancellationToken cancellationToken) =>
        throw new NotSupportedException();

    public ValueTask<FeedPage> ReadFeedAsync(string app, string? after, int limit, CancellationToken cancellationToken) => throw new NotSupportedException();

    public IAsyncEnumerable<UnfinishedEvent> RecoverAsync(CancellationToken cancellationToken) => throw new NotSupportedException();
}
