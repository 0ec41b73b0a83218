using System.Collections.Concurrent;
using Pnh.Core.Events;

namespace Pnh.Core.Shards;

/// <summary>
/// Bounds how many events of a class may be inside the door (parsed, not yet answered) at once, so that overload is answered in
/// microseconds instead of becoming a queue. Each class has a bound of its own: a flood of messages takes no place of a call; and no app takes
/// more than three quarters of a class's places, so that the others find one. Events of uploads have <see cref="Uploads"/>. Thread-safe.
/// </summary>
/// <param name="stopping">The hub's stop.</param>
internal sealed class Admission(CancellationToken stopping)
{
    // A journal flush takes what waits, at most a few ms: these are some 100 ms of work at 50k events/s, less for what matters less.
    private static readonly int[] Bounds = [4_096, 4_096, 2_048, 1_024];
    private readonly int[] _inside = new int[Bounds.Length];
    private readonly ConcurrentDictionary<string, int[]> _apps = new(StringComparer.Ordinal);

    /// <summary>
    /// Where events of uploads stand, half as many again: in the same places seven uploads of 256 bulk events that met in one slow flush had lines refused, and each
    /// event that came alone was refused beside them.
    /// </summary>
    internal UploadPlaces Uploads { get; } = new(Array.ConvertAll(Bounds, static bound => bound / 2), stopping);

    /// <summary>How many events are inside that did not come with others: of an upload 256 are at once, and its sender waits when told to.</summary>
    internal int Alone
    {
        get
        {
            var sum = 0;
            for (var i = 0; i < Bounds.Length; i++)
            {
                sum += Volatile.Read(ref _inside[i]);
            }

            return sum;
        }
    }

    /// <summary>How many events of the class are inside.</summary>
    internal int Inside(EventClass @class) => Volatile.Read(ref _inside[(int)@class]) + Uploads.Inside(@class);

    /// <summary>True when there is a place for an event that came alone; then <see cref="Leave"/> must follow, with the <paramref name="place"/>.</summary>
    internal bool TryEnter(string app, EventClass @class, out Place place)
    {
        place = new Place(_apps.GetOrAdd(app, static _ => new int[Bounds.Length]), @class);
        if (Interlocked.Increment(ref _inside[(int)@class]) <= Bounds[(int)@class]
            & Interlocked.Increment(ref place.OfApp![(int)@class]) <= Bounds[(int)@class] / 4 * 3)
        {
            return true;
        }

        Leave(place);
        return false;
    }

    internal void Leave(Place place)
    {
        if (place.OfApp is { } ofApp)
        {
            Interlocked.Decrement(ref _inside[(int)place.Class]);
            Interlocked.Decrement(ref ofApp[(int)place.Class]);
        }
    }

    /// <summary>Where an event stands inside.</summary>
    /// <param name="OfApp">Its app's events inside, by class; null when its upload has the places.</param>
    /// <param name="Class">Its class.</param>
    internal readonly record struct Place(int[]? OfApp, EventClass Class);
}
