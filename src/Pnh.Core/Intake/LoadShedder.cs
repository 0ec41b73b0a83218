using Pnh.Core.Diagnostics;
using Pnh.Core.Events;

namespace Pnh.Core.Intake;

/// <summary>
/// Refuses the less urgent classes while the hub has more work than cores: <c>transient</c> and <c>bulk</c> first, then <c>message</c>; a
/// <c>call</c> never. Overload is a wait for a core that stands over <see cref="Target"/> for a whole window, or that no event of a whole window was
/// answered within <see cref="AnswerTarget"/>, while the process itself uses the cores and events come in: a busy neighbour, a start or a slow disk
/// does not look like it. From then on the share that is refused follows each measurement, how far the wait is off <see cref="Settled"/> and where
/// it goes; and at once, whatever was measured, how many events are inside the door. It is a share of the senders, nearly (<see cref="SenderCircle"/>).
/// Thread-safe, does not wait.
/// </summary>
/// <param name="time">The clock.</param>
/// <param name="cpuTime">CPU time of the process until now.</param>
/// <param name="inside">Events that were let in and are not answered, without those of uploads, whose senders wait (<see cref="WaitAsync"/>).</param>
public sealed class LoadShedder(TimeProvider time, Func<TimeSpan> cpuTime, Func<int> inside)
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

    /// <summary>How long a wait must stand.</summary>
    internal static readonly TimeSpan Window = TimeSpan.FromMilliseconds(100);

    /// <summary>After an overload a crowd is refused for so long: as long as the longest Retry-After, with which those who obey come back, and a second.</summary>
    internal static readonly TimeSpan Watch = TimeSpan.FromSeconds(5);

    /// <summary>
    /// With fewer events inside than this nothing is refused, whatever the clocks say: 2 ms of work of one core, and a publisher that waits for each answer has no more
    /// inside than it has connections. Sixteen such connections were refused 13 and 70 % of their events by a hub that had just started.
    /// </summary>
    internal const int Few = 64;

    // Events inside for each core, of some 30 us each: from 2 ms of work on a share of bulk is refused, at 4 ms all of it, from there a share of messages, at 8 ms all.
    // A measurement is up to 10 ms old, and 400 events may come in that time. Offered three times the load by publishers that obey, p99 of a refusal was 1.4 to 6.1 ms in eight
    // phases with it and 9 to 21 without, a call's 5 to 19 and 29 to 51, the median accepted per CPU second 33,800 and 31,500; with 96, 192 and 448 refusals took 3.0 to 8.5 ms.
    internal const int Crowd = 64;
    internal const int CrowdOfMessages = 2 * Crowd;
    internal const int CrowdOfCalls = 4 * Crowd;

    // Ten-thousandths; 10,000 = all bulk and transient, 20,000 = all messages too. A tenth of that when an overload begins, and for each window in which
    // nobody was answered in time though cores were free. From then on each measurement moves the share of the class that is refused in part, in proportion to
    // that share within bounds: by a 16th for every 2 ms that the wait is over or under where it shall settle, by a half for every 2 ms that it grew or shrank since the last
    // one (RFC 8033, section 4.2, has the same two terms). The second is what keeps it still: what publishers that obey Retry-After leave out shows for seconds,
    // and by the first alone all of them were silent when a queue of 20 ms was gone, and the hub half idle for a second.
    private const int All = SenderCircle.All;
    private const int Most = 2 * All;
    private const int Step = Most / 10;
    private const int LeastWeight = All / 50;
    private const int MostWeight = All / 5;
    private const double OfDistance = 1.0 / 16;
    private const double OfChange = 1.0 / 2;
    private const int MostDistance = 8;
    private const int MostChange = 4;

    // Half of the cores, since each loop serves two; a single core is full only when it is nearly full: on one that its host took away for 15 ms again and again
    // all transient events were refused at 50 % of it.
    private static readonly double BusyCores = Math.Max(Environment.ProcessorCount / 2.0, 0.75);

    // A second: below that no core is full of them, whatever else it waits for. A window may be longer than it should be, when whoever measures waits too.
    private const int FewEvents = 500;
    private readonly SenderCircle _senders = new(time);
    private readonly StripedCells _events = new(1);
    private int _level;
    private long _windowEvents;
    private long _waitTicks;
    private long _windowStart = time.GetTimestamp();
    private long _shedAt;
    private TimeSpan _windowCpu = cpuTime();
    private TimeSpan _shortest = TimeSpan.MaxValue;
    private long _shortestAnswer = long.MaxValue;
    private TimeSpan _longest;
    private bool _isBusy;
    private bool _hasRoom;
    private bool _isUnseen;
    private bool _isWatchful;

    /// <summary>How long work waited for a core at the last look.</summary>
    public TimeSpan Wait => new(Volatile.Read(ref _waitTicks));

    /// <summary>True while any class is refused in part.</summary>
    public bool IsShedding => Volatile.Read(ref _level) > 0;

    /// <summary>True while anything may be refused: while <see cref="IsShedding"/>, and for <see cref="Watch"/> after it.</summary>
    public bool IsWatchful => Volatile.Read(ref _isWatchful);

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
        _senders.Turn();
        var before = Wait;
        Volatile.Write(ref _waitTicks, wait.Ticks);
        _shortest = wait < _shortest ? wait : _shortest;
        _longest = wait > _longest ? wait : _longest;
        Follow(wait, before);
        EndWindow(time.GetElapsedTime(_windowStart));
        KeepWatch();
    }

    private void EndWindow(TimeSpan elapsed)
    {
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
        if (!IsWatchful || @class == EventClass.Call)
        {
            return false;
        }

        var unanswered = inside();
        if (unanswered < Few)
        {
            return false;
        }

        var level = Math.Max(Volatile.Read(ref _level), OfCrowd(unanswered / Environment.ProcessorCount));
        var share = @class == EventClass.Message ? level - All : Math.Min(level, All);
        return share > 0 && _senders.IsAmong(share, sender);
    }

    private static int OfCrowd(int events) => events switch
    {
        <= Crowd => 0,
        <= CrowdOfMessages => All * (events - Crowd) / (CrowdOfMessages - Crowd),
        < CrowdOfCalls => All + (All * (events - CrowdOfMessages) / (CrowdOfCalls - CrowdOfMessages)),
        _ => Most,
    };

    private void KeepWatch()
    {
        if (IsShedding)
        {
            _shedAt = time.GetTimestamp();
            Volatile.Write(ref _isWatchful, true);
        }
        else if (_isWatchful && time.GetElapsedTime(_shedAt) > Watch)
        {
            Volatile.Write(ref _isWatchful, false);
        }
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
