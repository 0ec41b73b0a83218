using Microsoft.Extensions.Logging;
using Pnh.Core.Events;
using Pnh.Core.Journal;
using Pnh.Core.Stores;

namespace Pnh.Core.Dispatch;

/// <summary>Makes events again from what the journal keeps of them. Thread-safe.</summary>
internal sealed partial class EventLoader(IEventJournal journal, EventReader reader, TimeProvider time, ILogger log)
{
    /// <summary>The event; null when the journal does not have it any more or its body cannot be read. Throws <see cref="StoreUnavailableException"/>.</summary>
    internal async ValueTask<Event?> LoadAsync(string app, string id, CancellationToken cancellationToken)
    {
        try
        {
            return await journal.FindAsync(app, id, cancellationToken).ConfigureAwait(false) is { } stored ? Read(stored, []) : null;
        }
        catch (StoreUnavailableException fault) when (fault.IsDamage)
        {
            // For good, and what waits behind it shall not wait for that.
            Log.Damaged(log, id, fault.Message);
            return null;
        }
    }

    /// <summary>The same from what was read already; null adds the reason to <paramref name="errors"/>.</summary>
    /// <remarks>One string for each app, as events that just came have: hundreds of thousands may wait.</remarks>
    internal Event? Read(StoredEvent stored, ICollection<FieldError> errors) => reader.Read(
        stored.Body,
        new EventOrigin(string.Intern(stored.App), stored.AcceptedAt, time.GetTimestamp(), stored.TraceParent, stored.Id, stored.ExpiresAt),
        errors);

    private static partial class Log
    {
        [LoggerMessage(14, LogLevel.Error, "Event {Id} cannot be read any more, and fails on the devices that it waits for: {Fault}", EventName = "EventDamaged")]
        internal static partial void Damaged(ILogger logger, string id, string fault);
    }
}
