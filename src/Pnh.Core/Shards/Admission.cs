using System.Collections.Concurrent;
using Pnh.Core.Events;

namespace Pnh.Core.Shards;

/// <summary>
/// Bounds how many events of a class may be inside the door (parsed, not yet answered) at once, so that overload is answered in
/// microseconds instead of becoming a queue. Each class has a bound of its own: a flood of messages takes no place of a call; and no app takes
/// more than three quarters of a class's places, so that the others find one. Thread-safe.
/// </summary>
internal sealed class Admission
{
    // A journal flush takes what waits, at most a few ms: these are some 100 ms of work at 50k events/s, less for what matters less.
    private static readonly int[] Bounds = [4_096, 4_096, 2_048, 1_024];
    private readonly int[] _inside = new int[Bounds.Length];
    private readonly ConcurrentDictionary<string, int[]> _apps = new(StringComparer.Ordinal);

    /// <summary>How many events of the class are inside.</summary>
    internal int Inside(EventClass @class) => Volatile.Read(ref _inside[(int)@class]);

    /// <summary>How many events are inside.</summary>
    internal int All => Inside(EventClass.Call) + Inside(EventClass.Message) + Inside(EventClass.Bulk) + Inside(EventClass.Transient);

    /// <summary>True when there is a place; then <see cref="Leave"/> must follow, with the <paramref name="place"/>.</summary>
    internal bool TryEnter(string app, EventClass @class, out Place place)
    {
        place = new Place(_apps.GetOrAdd(app, static _ => new int[Bounds.Length]), @class);
        if (Interlocked.Increment(ref _inside[(int)@class]) <= Bounds[(int)@class]
            & Interlocked.Increment(ref place.OfApp[(int)@class]) <= Bounds[(int)@class] / 4 * 3)
        {
            return true;
        }

        Leave(place);
        return false;
    }

    internal void Leave(Place place)
    {
        Interlocked.Decrement(ref _inside[(int)place.Class]);
        Interlocked.Decrement(ref place.OfApp[(int)place.Class]);
    }

    /// <summary>Where an event stands inside.</summary>
    /// <param name="OfApp">Its app's events inside, by class.</param>
    /// <param name="Class">Its class.</param>
    internal readonly record struct Place(int[] OfApp, EventClass Class);
}
