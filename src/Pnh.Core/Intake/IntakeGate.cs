using System.Collections.Concurrent;
using Pnh.Core.Events;

namespace Pnh.Core.Intake;

/// <summary>
/// The one door for events, with places by class and app, so that overload is answered in microseconds instead of becoming a queue. A flood of one class takes no place of
/// another, and no app more than three quarters of a class's places. While the cores are too busy (<see cref="Shedder"/>) and several apps send, each has an equal share
/// of <see cref="Room"/>: who is below it is never refused, and who is above it waits for all others, calls too. An app that is alone has everything.
/// Thread-safe; observed by one caller.
/// </summary>
public sealed class IntakeGate
{
    /// <summary>Events that came alone, for each core, which apps share while the cores are too busy: 4 ms of work, so another app's call waits no longer than that.</summary>
    internal const int Room = LoadShedder.CrowdOfMessages;

    /// <summary>An app counts as sending for one to two of these after its last event: as long as the shortest Retry-After.</summary>
    internal static readonly TimeSpan Turn = TimeSpan.FromSeconds(1);

    // A journal flush takes what waits, at most a few ms: these are some 100 ms of work at 50k events/s, less for what matters less.
    private static readonly int[] Bounds = [4_096, 4_096, 2_048, 1_024];
    private static readonly int RoomOfAll = Room * Environment.ProcessorCount;
    private readonly int[] _inside = new int[Bounds.Length];
    private readonly ConcurrentDictionary<string, AppPlaces> _apps = new(StringComparer.Ordinal);
    private readonly TimeProvider _time;
    private int _turn = 1;
    private int _sending;
    private long _turnedAt;

    /// <summary>Empty, with nobody seen yet.</summary>
    /// <param name="time">The clock.</param>
    /// <param name="cpuTime">CPU time of the process until now.</param>
    /// <param name="stopping">The hub's stop, at which no upload waits any more.</param>
    public IntakeGate(TimeProvider time, Func<TimeSpan> cpuTime, CancellationToken stopping)
    {
        ArgumentNullException.ThrowIfNull(time);
        _time = time;
        _turnedAt = time.GetTimestamp();
        Shedder = new LoadShedder(time, cpuTime, () => Alone);
        Uploads = new UploadPlaces(Array.ConvertAll(Bounds, static bound => bound / 2), stopping);
    }

    /// <summary>Says whether the cores are too busy, and which part of a class is refused then.</summary>
    public LoadShedder Shedder { get; }

    /// <summary>
    /// Where events of uploads stand, half as many again: in the same places seven uploads of 256 bulk events that met in one slow flush had lines refused, and each
    /// event that came alone was refused beside them.
    /// </summary>
    internal UploadPlaces Uploads { get; }

    /// <summary>How many events are inside that did not come with others: of an upload 256 are at once, and its sender waits when told to.</summary>
    internal int Alone => Sum(_inside);

    /// <summary>Apps that sent within the last turns.</summary>
    internal int Sending => Volatile.Read(ref _sending);

    /// <summary>How many events of the class are inside.</summary>
    internal int Inside(EventClass @class) => Volatile.Read(ref _inside[(int)@class]) + Uploads.Inside(@class);

    /// <summary>Takes a measurement of how long work waits for a core; see <see cref="LoadShedder.Observe"/>.</summary>
    public void Observe(TimeSpan wait)
    {
        Shedder.Observe(wait);
        if (_time.GetElapsedTime(_turnedAt) < Turn)
        {
            return;
        }

        _turnedAt = _time.GetTimestamp();
        var last = _turn;
        Volatile.Write(ref _turn, last + 1);
        var sending = 0;
        foreach (var (_, places) in _apps)
        {
            sending += Volatile.Read(ref places.SeenIn) >= last ? 1 : 0;
        }

        // An app that comes right now may be missed for a turn: it is below its share all the same.
        Volatile.Write(ref _sending, sending);
    }

    /// <summary>
    /// True when an event shall be refused because the cores are too busy. <paramref name="sender"/> says who sends, the same number each time, such as a hash of its
    /// connection.
    /// </summary>
    public bool Sheds(string app, EventClass @class, int sender)
    {
        if (!Shedder.IsWatchful)
        {
            return false;
        }

        var places = See(app);
        var apps = Sending;
        if (apps > 1)
        {
            if (Sum(places.Inside) < RoomOfAll / apps)
            {
                return false;
            }

            // Of an app above its share the less urgent goes first, as everywhere.
            if (Alone >= RoomOf(@class))
            {
                return true;
            }
        }

        return Shedder.Sheds(@class, sender);
    }

    /// <summary>True when there is a place for an event that came alone; then <see cref="Leave"/> must follow, with the <paramref name="place"/>.</summary>
    internal bool TryEnter(string app, EventClass @class, out Place place)
    {
        place = new Place(See(app).Inside, @class);
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

    private static int RoomOf(EventClass @class) => @class switch
    {
        EventClass.Call => RoomOfAll,
        EventClass.Message => RoomOfAll / 4 * 3,
        _ => RoomOfAll / 2,
    };

    private AppPlaces See(string app)
    {
        var places = _apps.GetOrAdd(app, static _ => new AppPlaces());
        var turn = Volatile.Read(ref _turn);
        var seen = Volatile.Read(ref places.SeenIn);
        if (seen != turn && Interlocked.CompareExchange(ref places.SeenIn, turn, seen) == seen && seen < turn - 1)
        {
            Interlocked.Increment(ref _sending);
        }

        return places;
    }

    private static int Sum(int[] inside)
    {
        var sum = 0;
        for (var i = 0; i < inside.Length; i++)
        {
            sum += Volatile.Read(ref inside[i]);
        }

        return sum;
    }

    /// <summary>Where an event stands inside.</summary>
    /// <param name="OfApp">Its app's events inside, by class; null when its upload has the places.</param>
    /// <param name="Class">Its class.</param>
    internal readonly record struct Place(int[]? OfApp, EventClass Class);

    /// <summary>An app's events that came alone and are inside, by class, and the turn in which it sent last.</summary>
    private sealed class AppPlaces
    {
        internal readonly int[] Inside = new int[Bounds.Length];
        internal int SeenIn = -1;
    }
}
