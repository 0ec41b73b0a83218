using System.Collections.Concurrent;
using Pnh.Core.Events;
using Pnh.Core.Journal;
using Pnh.Core.Stores;

namespace Pnh.Api.Tests.EndToEnd;

/// <summary>The hub's own journal behind a gate: while it is closed appends wait, as for a disk that hangs; when it is full they fail. Thread-safe.</summary>
internal sealed class GatedJournal(IEventJournal journal) : IEventJournal
{
    private volatile TaskCompletionSource _gate = Open();
    private readonly TaskCompletionSource _held = new(TaskCreationOptions.RunContinuationsAsynchronously);
    private volatile bool _isFull;
    private readonly ConcurrentDictionary<string, byte> _waiting = new();

    /// <summary>Ids of the events at the gate.</summary>
    internal ICollection<string> Waiting => _waiting.Keys;

    internal bool IsFull
    {
        set => _isFull = value;
    }

    internal bool IsClosed
    {
        set
        {
            if (value)
            {
                _gate = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
            }
            else
            {
                _gate.TrySetResult();
            }
        }
    }

    /// <summary>Events whose ids begin so wait until <see cref="LetGo"/>, while all others pass.</summary>
    internal string? Held { get; set; }

    internal void LetGo() => _held.TrySetResult();

    public async ValueTask<AppendResult> AppendAsync(Event accepted, CancellationToken cancellationToken)
    {
        if (_isFull)
        {
            throw new StoreUnavailableException("The disk is full.");
        }

        _waiting[accepted.Id] = 0;
        await (Held is { } held && accepted.Id.StartsWith(held, StringComparison.Ordinal) ? _held.Task : _gate.Task);
        _waiting.TryRemove(accepted.Id, out _);
        return await journal.AppendAsync(accepted, cancellationToken);
    }

    public void Note(in Milestone milestone) => journal.Note(milestone);

    public ValueTask FlushAsync(CancellationToken cancellationToken) => journal.FlushAsync(cancellationToken);

    public void Finish(string app, string id) => journal.Finish(app, id);

    public void NoteAddress(in AddressNote note) => journal.NoteAddress(note);

    public ValueTask<WithdrawResult> WithdrawAsync(string app, string id, string? user, string reason, DateTimeOffset at, CancellationToken cancellationToken) =>
        journal.WithdrawAsync(app, id, user, reason, at, cancellationToken);

    public ValueTask<EventHistory?> ReadAsync(string app, string id, CancellationToken cancellationToken) => journal.ReadAsync(app, id, cancellationToken);

    public ValueTask<StoredEvent?> FindAsync(string app, string id, CancellationToken cancellationToken) => journal.FindAsync(app, id, cancellationToken);

    public ValueTask<UserEventPage> ReadUserAsync(string app, string user, string? before, int limit, CancellationToken cancellationToken) =>
        journal.ReadUserAsync(app, user, before, limit, cancellationToken);

    public ValueTask<UserEventPage> ReadFailuresAsync(string app, string? before, int limit, CancellationToken cancellationToken) =>
        journal.ReadFailuresAsync(app, before, limit, cancellationToken);

    public ValueTask<UserEventPage> ReadRecentAsync(string app, string? before, int limit, CancellationToken cancellationToken) =>
        journal.ReadRecentAsync(app, before, limit, cancellationToken);

    public ValueTask<FeedPage> ReadFeedAsync(string app, string? after, int limit, CancellationToken cancellationToken) =>
        journal.ReadFeedAsync(app, after, limit, cancellationToken);

    public bool Rests(string app, string id, string user, string device) => journal.Rests(app, id, user, device);

    public IReadOnlyDictionary<(string App, EventClass Class), int> PendingMail => journal.PendingMail;

    public int CountMail(string app, string user, string device) => journal.CountMail(app, user, device);

    public ValueTask<IReadOnlyList<RestingEvent>> ReadMailAsync(string app, string user, string device, Collapse? of, CancellationToken cancellationToken) =>
        journal.ReadMailAsync(app, user, device, of, cancellationToken);

    public bool HasMail(string app, string user, string device, in Collapse of) => journal.HasMail(app, user, device, of);

    public ValueTask<IReadOnlyList<UnfinishedEvent>> ReadOverAsync(DateTimeOffset until, int most, CancellationToken cancellationToken) =>
        journal.ReadOverAsync(until, most, cancellationToken);

    public IAsyncEnumerable<UnfinishedEvent> RecoverAsync(CancellationToken cancellationToken) => journal.RecoverAsync(cancellationToken);

    private static TaskCompletionSource Open()
    {
        var open = new TaskCompletionSource();
        open.SetResult();
        return open;
    }
}
