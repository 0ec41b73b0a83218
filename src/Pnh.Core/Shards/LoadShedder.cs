using Pnh.Core.Diagnostics;
using Pnh.Core.Events;

namespace Pnh.Core.Shards;

/// <summary>
/// Refuses the less urgent classes while the hub has more work than cores: <c>transient</c> and <c>bulk</c> first, then <c>message</c>; a
/// <c>call</c> never. Overload is a wait for a core that stands over <see cref="Target"/> for a whole window, or that no event of a whole window was
/// answered within <see cref="AnswerTarget"/>, while the process itself uses the cores and events come in: a busy neighbour, a start or a slow disk
/// does not look like it. From then on the share that is refused follows each measurement, how far the wait is off <see cref="Settled"/> and where
/// it goes. It is a share of the senders, nearly: the same ones are refused again and again, and the others not at all, each for its part of <see cref="Round"/>.
/// Thread-safe, does not wait.
/// </summary>
/// <remarks>
/// The same ones, because by chance alone nearly all senders are refused something within a moment, and those who obey Retry-After were all silent for a second
/// where a tenth of them would have been enough. WeChat refuses by a hash of the user for a like reason (DAGOR, SoCC 2018).
/// </remarks>
public sealed class LoadShedder(TimeProvider time, Func<TimeSpan> cpuTime)
{
    /// <summary>Longest wait for a core that is not overload: half of the 10 ms in which a refusal must be answered.</summary>
    internal static readonly TimeSpan Target = TimeSpan.FromMilliseconds(5);

    /// <summary>
    /// Where the wait shall settle. Nearer than <see cref="Target"/>, since it swings around it: around 5 ms p99 of a refusal was 7 to 31 ms at two and three times
    /// the load, around this 5 to 17, around 1 ms not less, and a tenth less was accepted from publishers that obey.
    /// </summary>
    internal static readonly TimeSpan Settled = TimeSpan.FromMilliseconds(2);

    /// <summary>
    /// Longest shortest answer that is not overload. Publishers that all wait for the journal's next group leave the cores idle for an instant in
    /// each round, so the wait for a core alone does not see their queue: 1,024 of them waited 50 ms.
    /// </summary>
    internal static readonly TimeSpan AnswerTarget = TimeSpan.FromMilliseconds(15);

    /// <summary>Longest wait for a core with which an upload goes on at full speed; above it a batch of 256 takes 25 ms at least.</summary>
    internal static readonly TimeSpan Courtesy = TimeSpan.FromMilliseconds(2);

    /// <summary>In so long each sender was among the refused for their share of it.</summary>
    internal static readonly TimeSpan Round = TimeSpan.FromMinutes(1);

    /// <summary>How long a wait must stand.</summary>
    internal static readonly TimeSpan Window = TimeSpan.FromMilliseconds(100);

    // Ten-thousandths; 10,000 = all bulk and transient, 20,000 = all messages too. A tenth of that when an overload begins, and for each window in which
    // nobody was answered in time though cores were free. From then on each measurement moves the share of the class that is refused in part, in proportion to
    // that share within bounds: by a 16th for every 2 ms that the wait is over or under where it shall settle, by a half for every 2 ms that it grew or shrank since the last
    // one (RFC 8033, section 4.2, has the same two terms). The second is what keeps it still: what publishers that obey Retry-After leave out shows for seconds,
    // and by the first alone all of them were silent when a queue of 20 ms was gone, and the hub half idle for a second.
    private const int All = 10_000;
    private const int Most = 2 * All;
    private const int Step = Most / 10;
    private const int LeastWeight = All / 50;
    private const int MostWeight = All / 5;
    private const double OfDistance = 1.0 / 16;
    private const double OfChange = 1.0 / 2;
    private const int MostDistance = 8;
    private const int MostChange = 4;

    // A place in the circle is a number of 32 bits; the multiplier is 2^32 over the golden ratio, which spreads numbers that follow each other.
    private const double Places = 1L << 32;
    private const uint Spread = 0x9E3779B9;

    // Half of the cores, since each loop serves two; a single core is full only when it is nearly full: on one that its host took away for 15 ms again and again
    // all transient events were refused at 50 % of it.
    private static readonly double BusyCores = Math.Max(Environment.ProcessorCount / 2.0, 0.75);

    // A second: below that no core is full of them, whatever else it waits for. A window may be longer than it should be, when whoever measures waits too.
    private const int FewEvents = 500;
    private int _level;
    private readonly StripedCells _events = new(1);
    private long _windowEvents;
    private long _waitTicks;
    private readonly long _began = time.GetTimestamp();
    private long _windowStart = time.GetTimestamp();
    private uint _turned;
    private TimeSpan _windowCpu = cpuTime();
    private TimeSpan _shortest = TimeSpan.MaxValue;
    private long _shortestAnswer = long.MaxValue;
    private TimeSpan _longest;
    private bool _isBusy;
    private bool _hasRoom;
    private bool _isUnseen;

    /// <summary>How long work waited for a core at the last look.</summary>
    public TimeSpan Wait => new(Volatile.Read(ref _waitTicks));

    /// <summary>True while any class is refused in part.</summary>
    public bool IsShedding => Volatile.Read(ref _level) > 0;

    /// <summary>
    /// For whoever can wait, such as the reader of a long upload, whose sender then waits too: completes when nothing is refused any more, or when
    /// <paramref name="patience"/> is over; after one look's time while work waits for a core, so that a call does not wait for the upload. Synchronous
    /// when there is nothing to wait for.
    /// </summary>
    public ValueTask WaitAsync(TimeSpan patience, CancellationToken cancellationToken) =>
        IsShedding || Wait > Courtesy ? WaitForCalmAsync(patience, cancellationToken) : ValueTask.CompletedTask;

    /// <summary>Takes a measurement. For one caller, some 100 times a second while it sheds or the wait is over <see cref="Courtesy"/>; a wait that still goes on is told each time.</summary>
    public void Observe(TimeSpan wait)
    {
        Volatile.Write(ref _turned, unchecked((uint)(long)(time.GetElapsedTime(_began) / Round * Places)));
        var before = Wait;
        Volatile.Write(ref _waitTicks, wait.Ticks);
        _shortest = wait < _shortest ? wait : _shortest;
        _longest = wait > _longest ? wait : _longest;
        Follow(wait, before);
        var elapsed = time.GetElapsedTime(_windowStart);
        if (elapsed < Window)
        {
            return;
        }

        var cpu = cpuTime();
        var isBusy = cpu - _windowCpu >= elapsed * BusyCores;
        var events = _events.Read(0);
        var answer = Interlocked.Exchange(ref _shortestAnswer, long.MaxValue);
        var isLate = answer != long.MaxValue && answer > AnswerTarget.Ticks;
        var isOverloaded = (_shortest > Target || isLate) && isBusy && events - _windowEvents >= FewEvents * elapsed.TotalSeconds;
        _windowEvents = events;
        (_isBusy, _hasRoom) = (isBusy, (cpu - _windowCpu) * 5 < elapsed * 4 * Environment.ProcessorCount);
        _isUnseen = isOverloaded && _shortest <= Target;
        Move(_isUnseen || (isOverloaded && _level == 0) ? Step : _longest * 4 < Target && !isLate && !isBusy ? -Step : 0);
        _windowStart = time.GetTimestamp();
        _windowCpu = cpu;
        _shortest = TimeSpan.MaxValue;
        _longest = TimeSpan.Zero;
    }

    /// <summary>An event came to the door.</summary>
    public void Count() => _events.Add(0, 1);

    /// <summary>A durable event was answered so long after it had come. A race that loses one of many does not matter.</summary>
    public void Answered(TimeSpan sinceArrived)
    {
        if (sinceArrived.Ticks < Volatile.Read(ref _shortestAnswer))
        {
            Volatile.Write(ref _shortestAnswer, sinceArrived.Ticks);
        }
    }

    /// <summary>
    /// True when an event of the class shall be refused now. <paramref name="sender"/> says who sends, the same number each time, such as a hash of its connection;
    /// which numbers there are does not matter.
    /// </summary>
    public bool Sheds(EventClass @class, int sender)
    {
        var level = Volatile.Read(ref _level);
        if (level == 0 || @class == EventClass.Call)
        {
            return false;
        }

        var share = @class == EventClass.Message ? level - All : Math.Min(level, All);
        return share > 0 && IsAmong(share, sender);
    }

    // The senders stand in a circle that turns, evenly spread. Those in front are refused, those behind are not, and at the border it is left to chance, so that
    // a share between none and all can be had of a single sender too.
    private bool IsAmong(int share, int sender)
    {
        var place = (int)(((ulong)unchecked(((uint)sender * Spread) + Volatile.Read(ref _turned)) * All) >> 32);
        var border = Math.Min(share, All - share) * 2 / 5;
        var depth = share + border - place;
        return depth > 0 && (depth >= 2 * border || Random.Shared.Next(2 * border) < depth);
    }

    // Only what is overloaded already: a single wait means nothing.
    private void Follow(TimeSpan wait, TimeSpan before)
    {
        var share = _level > All ? _level - All : _level;
        var distance = Math.Clamp((wait - Settled) / Settled, -1, MostDistance);
        var change = Math.Clamp((wait - before) / Settled, -MostChange, MostChange);
        var step = Math.Clamp(share, LeastWeight, MostWeight) * ((distance * OfDistance) + (change * OfChange));
        if (_level > 0 && (step > 0 ? _isBusy : !_isUnseen))
        {
            Move((int)step - (step < 0 && _hasRoom ? share / 32 : 0));
        }
    }

    private void Move(int step) => Volatile.Write(ref _level, Math.Clamp(_level + step, 0, Most));

    private async ValueTask WaitForCalmAsync(TimeSpan patience, CancellationToken cancellationToken)
    {
        var since = time.GetTimestamp();
        do
        {
            await Task.Delay(Window / 4, time, cancellationToken).ConfigureAwait(false);
        }
        while (IsShedding && time.GetElapsedTime(since) < patience);
    }
}
