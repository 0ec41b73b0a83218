using System.Runtime.CompilerServices;
using Pnh.Core.Events;
using Pnh.Core.Journal;
using Pnh.Storage.Segments.Index;

namespace Pnh.Storage.Segments;

/// <summary>What is not over: what a start takes up, and what rests.</summary>
public sealed partial class SegmentJournal
{
    private const int RecoveryBatch = 64;

    /// <summary>Deliveries that wait for their device here, with an end or without.</summary>
    public long Resting => _index.Mail.Total;

    /// <inheritdoc/>
    public IReadOnlyDictionary<(string App, EventClass Class), int> PendingMail { get; }

    /// <inheritdoc/>
    public int CountMail(string app, string user, string device) => _index.Mail.Count(_index.Hash.Of(app, user, device));

    /// <inheritdoc/>
    public bool Rests(string app, string id, string user, string device) => _index.Mail.Has(_index.Hash.Of(app, user, device), _index.Hash.Of(app, id));

    /// <inheritdoc/>
    public bool HasMail(string app, string user, string device, in Collapse of) => _index.Mail.Has(_index.Hash.Of(app, user, device), _index.KeyOf(of));

    /// <inheritdoc/>
    public ValueTask<IReadOnlyList<RestingEvent>> ReadMailAsync(string app, string user, string device, Collapse? of, CancellationToken cancellationToken) =>
        new(Task.Run(() => _unfinished.ReadMailAsync(app, user, device, of), cancellationToken));

    /// <inheritdoc/>
    public ValueTask<IReadOnlyList<UnfinishedEvent>> ReadOverAsync(DateTimeOffset until, int most, CancellationToken cancellationToken) =>
        new(Task.Run(() => _unfinished.ReadOverAsync(until, most), cancellationToken));

    /// <inheritdoc/>
    public async IAsyncEnumerable<UnfinishedEvent> RecoverAsync([EnumeratorCancellation] CancellationToken cancellationToken)
    {
        var open = await AskAsync(static index => index.Open()).ConfigureAwait(false);
        for (var from = 0; from < open.Count; from += RecoveryBatch)
        {
            cancellationToken.ThrowIfCancellationRequested();
            var batch = open.GetRange(from, Math.Min(RecoveryBatch, open.Count - from));
            foreach (var unfinished in await Task.Run(() => _unfinished.ReadAsync(batch), cancellationToken).ConfigureAwait(false))
            {
                yield return unfinished;
            }
        }
    }

    private Task<IndexEntry[]> FindAsync(IReadOnlyList<ulong> events, string? user) => AskAsync(index =>
    {
        var found = new IndexEntry[events.Count];
        for (var i = 0; i < found.Length; i++)
        {
            found[i] = index.TryFindOnly(events[i], out var entry) && (user is null || !index.IsWithdrawn(entry.Root, user)) ? entry : default;
        }

        return found;
    });
}
