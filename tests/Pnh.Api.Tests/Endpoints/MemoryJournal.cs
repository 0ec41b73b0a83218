using System.Globalization;
using System.Text;
using Pnh.Core.Events;
using Pnh.Core.Journal;
using Pnh.Core.Stores;

namespace Pnh.Api.Tests.Endpoints;

/// <summary>A journal in memory with what a test puts into it. A cursor is the place after an entry; the places below <see cref="Removed"/> are gone.</summary>
internal sealed class MemoryJournal : IEventJournal
{
    private readonly Lock _gate = new();
    private readonly Dictionary<(string App, string Id), EventHistory> _histories = [];
    private readonly List<(string App, Milestone? Outcome, AddressNote? Address)> _feed = [];

    public bool IsUnavailable { get; set; }

    public int Removed { get; set; }

    public int Reads { get; private set; }

    public int MostAsked { get; private set; }

    public void Put(StoredEvent stored, params Milestone[] milestones) => _histories[(stored.App, stored.Id)] = new EventHistory(stored, milestones);

    public void Feed(string app, Milestone? outcome = null, AddressNote? address = null)
    {
        lock (_gate)
        {
            _feed.Add((app, outcome, address));
        }
    }

    public ValueTask<EventHistory?> ReadAsync(string app, string id, CancellationToken cancellationToken)
    {
        Refuse();
        return ValueTask.FromResult(_histories.GetValueOrDefault((app, id)));
    }

    public ValueTask<UserEventPage> ReadUserAsync(string app, string user, string? before, int limit, CancellationToken cancellationToken) =>
        throw new NotSupportedException();

    public ValueTask<UserEventPage> ReadFailuresAsync(string app, string? before, int limit, CancellationToken cancellationToken) =>
        throw new NotSupportedException();

    public ValueTask<UserEventPage> ReadRecentAsync(string app, string? before, int limit, CancellationToken cancellationToken) =>
        throw new NotSupportedException();

    public ValueTask<FeedPage> ReadFeedAsync(string app, string? after, int limit, CancellationToken cancellationToken)
    {
        cancellationToken.ThrowIfCancellationRequested();
        Refuse();
        lock (_gate)
        {
            Reads++;
            MostAsked = Math.Max(MostAsked, limit);
            var from = after is null ? 0 : int.Parse(after, NumberStyles.None, CultureInfo.InvariantCulture);
            var start = Math.Max(from, Removed);
            var end = Math.Min(_feed.Count, start + limit);
            var entries = new List<FeedEntry>();
            for (var i = start; i < end; i++)
            {
                if (_feed[i].App == app)
                {
                    entries.Add(new FeedEntry($"{i + 1}", _feed[i].Outcome, _feed[i].Address));
                }
            }

            return ValueTask.FromResult(new FeedPage(entries, $"{end}", from < Removed, end == _feed.Count));
        }
    }

    public static StoredEvent Event(string id, DateTimeOffset at, string body = """{"to":{"user":"ada"}}""") =>
        new("demo", id, IdGiven: true, at, at.AddHours(1), null, Encoding.UTF8.GetBytes(body));

    public ValueTask<AppendResult> AppendAsync(Event accepted, CancellationToken cancellationToken) => throw new NotSupportedException();

    public void Note(in Milestone milestone) => throw new NotSupportedException();

    public void Finish(string app, string id) => throw new NotSupportedException();

    public void NoteAddress(in AddressNote note) => Feed(note.App, address: note);

    public ValueTask<WithdrawResult> WithdrawAsync(
        string app, string id, string? user, string reason, DateTimeOffset at, CancellationToken cancellationToken) => throw new NotSupportedException();

    public ValueTask<StoredEvent?> FindAsync(string app, string id, CancellationToken cancellationToken) => throw new NotSupportedException();

    public IAsyncEnumerable<UnfinishedEvent> RecoverAsync(CancellationToken cancellationToken) => throw new NotSupportedException();

    private void Refuse()
    {
        if (IsUnavailable)
        {
            throw new StoreUnavailableException("The disk is gone.");
        }
    }
}
