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
    private int _alone;
    private readonly ConcurrentDictionary<string, int[]> _apps = new(StringComparer.Ordinal);

    /// <summary>How many events of the class are inside.</summary>
    internal int Inside(EventClass @class) => Volatile.Read(ref _inside[(int)@class]);

    /// <summary>How many events are inside that did not come with others: of an upload 256 are at once, and its sender waits when told to.</summary>
    internal int Alone => Volatile.Read(ref _alone);

    /// <summary>True when there is a place; then <see cref="Leave"/> must follow, with the <paramref name="place"/>.</summary>
    internal bool TryEnter(string app, EventClass @class, bool isAlone, out Place place)
    {
        place = new Place(_apps.GetOrAdd(app, static _ => new int[Bounds.Length]), @class, isAlone);
        Interlocked.Add(ref _alone, isAlone ? 1 : 0);
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
        Interlocked.Add(ref _alone, place.IsAlone ? -1 : 0);
        Interlocked.Decrement(ref _inside[(int)place.Class]);
        Interlocked.Decrement(ref place.OfApp[(int)place.Class]);
    }

    /// <summary>Where an event stands inside.</summary>
    /// <param name="OfApp">Its app's events inside, by class.</param>
    /// <param name="Class">Its class.</param>
    /// <param name="IsAlone">It did not come with others.</param>
    internal readonly record struct Place(int[] OfApp, EventClass Class, bool IsAlone);
}
