using Pnh.Core.Progress;

namespace Pnh.Core.Dispatch;

/// <summary>
/// The durable events that are on their way from the door to their last delivery, found by app and id: a caller that takes one back waits for it. A list per
/// bucket through the events themselves, so that coming and going costs one hash and no memory. Of twins with one id both are in it. Thread-safe.
/// </summary>
internal sealed class DispatchTable
{
    // The door lets some 10,000 in at once: two or three a bucket then, one or none on all other days.
    private const int Buckets = 4_096;
    private const int Gates = 64;
    private readonly EventProgress?[] _buckets = new EventProgress?[Buckets];
    private readonly Lock[] _gates = new Lock[Gates];

    internal DispatchTable()
    {
        for (var i = 0; i < Gates; i++)
        {
            _gates[i] = new Lock();
        }
    }

    internal void Add(EventProgress progress)
    {
        var bucket = BucketOf(progress.Id);
        progress.DispatchBucket = bucket;
        lock (_gates[bucket % Gates])
        {
            progress.NextDispatching = _buckets[bucket];
            _buckets[bucket] = progress;
        }
    }

    internal void Remove(EventProgress progress)
    {
        var bucket = progress.DispatchBucket;
        lock (_gates[bucket % Gates])
        {
            ref var place = ref _buckets[bucket];
            while (place is not null && !ReferenceEquals(place, progress))
            {
                place = ref place.NextDispatching;
            }

            if (place is not null)
            {
                place = progress.NextDispatching;
                progress.NextDispatching = null;
            }
        }
    }

    /// <summary>Completes when every delivery of the event has begun or was given up; at once when it is not on its way.</summary>
    internal Task DispatchedAsync(string app, string id)
    {
        var bucket = BucketOf(id);
        List<Task>? waits = null;
        lock (_gates[bucket % Gates])
        {
            for (var each = _buckets[bucket]; each is not null; each = each.NextDispatching)
            {
                if (string.Equals(each.Id, id, StringComparison.Ordinal) && string.Equals(each.App, app, StringComparison.Ordinal))
                {
                    (waits ??= []).Add(each.Dispatched);
                }
            }
        }

        return waits is null ? Task.CompletedTask : Task.WhenAll(waits);
    }

    private static int BucketOf(string id) => id.GetHashCode(StringComparison.Ordinal) & (Buckets - 1);
}
