using System.Collections.Concurrent;
using Pnh.Core.Events;

namespace Pnh.Core.Intake;

/// <summary>
/// The one door for events. An event has a place from the door to its answer, and is refused at once when its class finds too many others inside: <c>bulk</c> at half of
/// the <see cref="Limit"/>, <c>transient</c> at five eighths, <c>message</c> at three quarters, <c>call</c> at the whole. While several apps send, each has an equal share of the
/// limit: an app below it is never refused, and while the limit is narrow none gets more, but for 64 inside. Then the same senders are refused first, and the others not. Thread-safe; observed by one caller.
/// </summary>
/// <remarks>
/// The same senders, because by chance alone nearly all are refused something within a moment, and those who obey Retry-After were all silent for seconds where a part of
/// them would have been enough. They stand in a circle that turns, so each is in front for its part of <see cref="Round"/>. WeChat refuses by a hash of the user for a
/// like reason (DAGOR, SoCC 2018).
/// </remarks>
public sealed class IntakeGate
{
    /// <summary>An app counts as sending for one to two of these after its last event: as long as the shortest Retry-After.</summary>
    internal static readonly TimeSpan Turn = TimeSpan.FromSeconds(1);

    /// <summary>In so long each sender was in front as often as every other.</summary>
    internal static readonly TimeSpan Round = TimeSpan.FromMinutes(1);

    // So many of an app inside are never too many.
    private const int Few = 64;

    // A place in the circle is a number of 32 bits; the multiplier is 2^32 over the golden ratio, which spreads numbers that follow each other.
    private const double Circle = 1L << 32;
    private const uint Spread = 0x9E3779B9;
    private readonly int[] _inside = new int[EventClassNames.All.Length];
    private readonly ConcurrentDictionary<string, AppPlaces> _apps = new(StringComparer.Ordinal);
    private readonly TimeProvider _time;
    private readonly long _began;
    private int _turn = 1;
    private int _sending;
    private long _turnedAt;
    private uint _circleAt;

    /// <summary>Empty, with nobody seen yet.</summary>
    /// <param name="time">The clock.</param>
    /// <param name="cpuTime">CPU time of the process until now.</param>
    /// <param name="stopping">The hub's stop, at which no upload waits any more.</param>
    public IntakeGate(TimeProvider time, Func<TimeSpan> cpuTime, CancellationToken stopping)
    {
        ArgumentNullException.ThrowIfNull(time);
        _time = time;
        _turnedAt = _began = time.GetTimestamp();
        Limit = new ConcurrencyLimit(time, cpuTime);
        Uploads = new UploadLine(stopping);
    }

    /// <summary>How many events may be inside.</summary>
    public ConcurrencyLimit Limit { get; }

    /// <summary>
    /// Where events of uploads stand: apart, since their senders can wait. In the same places seven uploads of 256 bulk events that met in one slow flush had lines
    /// refused, and each event that came alone was refused beside them.
    /// </summary>
    internal UploadLine Uploads { get; }

    /// <summary>How many events are inside that did not come with others.</summary>
    internal int Alone
    {
        get
        {
            var sum = 0;
            for (var i = 0; i < _inside.Length; i++)
            {
                sum += Volatile.Read(ref _inside[i]);
            }

            return sum;
        }
    }

    /// <summary>Apps that sent within the last turns.</summary>
    internal int Sending => Volatile.Read(ref _sending);

    /// <summary>How many events of the class are inside.</summary>
    internal int Inside(EventClass @class) => Volatile.Read(ref _inside[(int)@class]) + Uploads.Inside(@class);

    /// <summary>Takes a measurement of how long work waits for a core; see <see cref="ConcurrencyLimit.Observe"/>.</summary>
    public void Observe(TimeSpan wait)
    {
        Limit.Observe(wait);
        Volatile.Write(ref _circleAt, unchecked((uint)(long)(_time.GetElapsedTime(_began) / Round * Circle)));
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
    /// True when there is a place for an event that came alone; then <see cref="Leave"/> must follow. Threads that ask at the same moment may be one too many each.
    /// <paramref name="sender"/> says who sends, the same number each time, such as a hash of its connection.
    /// </summary>
    public bool TryEnter(string app, EventClass @class, int sender, out Place place)
    {
        var places = See(app);
        var (limit, apps) = (Limit.Events, Sending);
        var inside = Volatile.Read(ref places.Inside);
        var isCrowding = apps > 1 && limit < ConcurrencyLimit.Most && inside >= Math.Max(limit / apps, Few);
        if ((!isCrowding && Alone < OthersAllowed(limit, @class, sender)) || (apps > 1 && inside < limit / apps))
        {
            Interlocked.Increment(ref _inside[(int)@class]);
            Interlocked.Increment(ref places.Inside);
            place = new Place(places, @class);
            return true;
        }

        Limit.Refused();
        place = default;
        return false;
    }

    /// <summary>Gives a place back; one that was never taken does not count.</summary>
    public void Leave(Place place)
    {
        if (place.OfApp is { } ofApp)
        {
            Interlocked.Decrement(ref _inside[(int)place.Class]);
            Interlocked.Decrement(ref ofApp.Inside);
        }
    }

    // Who is in front is refused from the first number on, who is at the back from the second.
    private int OthersAllowed(int limit, EventClass @class, int sender)
    {
        var (front, back) = @class switch
        {
            EventClass.Call => (limit, limit),
            EventClass.Message => (limit / 2, limit / 4 * 3),
            EventClass.Transient => (limit / 4, limit / 8 * 5),
            _ => (limit / 4, limit / 2),
        };
        return limit == ConcurrencyLimit.Most ? back
            : front + (int)(((ulong)unchecked(((uint)sender * Spread) + Volatile.Read(ref _circleAt)) * (ulong)(back - front)) >> 32);
    }

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

    /// <summary>Where an event that came alone stands. The default is no place.</summary>
    public readonly struct Place
    {
        internal Place(AppPlaces ofApp, EventClass @class) => (OfApp, Class) = (ofApp, @class);

        /// <summary>True when there is one.</summary>
        internal bool IsTaken => OfApp is not null;

        internal AppPlaces? OfApp { get; }

        internal EventClass Class { get; }
    }

    /// <summary>An app's events that came alone and are inside, and the turn in which it sent last.</summary>
    internal sealed class AppPlaces
    {
        internal int Inside;
        internal int SeenIn = -1;
    }
}
