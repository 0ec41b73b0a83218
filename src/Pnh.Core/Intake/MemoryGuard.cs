using Microsoft.Extensions.Logging;
using Pnh.Core.Events;

namespace Pnh.Core.Intake;

/// <summary>
/// Refuses events by class before the heap is full: <c>bulk</c> when <see cref="BulkLine"/> of its limit lives, <c>message</c> at <see cref="MessageLine"/>, <c>call</c>
/// at <see cref="CallLine"/>; <c>transient</c> never, since nothing of it waits. A class is taken again when the heap is <see cref="Way"/> below its line. An app that
/// holds much is refused earlier (<see cref="RefusesShare"/>), so that others find room. Thread-safe; observed by one caller.
/// </summary>
/// <remarks>
/// It looks at what the last collection left, not at what is allocated: that is mostly dead. Dead objects of the oldest generation are still counted until that
/// generation is collected, so from <see cref="AskLine"/> on a background collection is asked for whenever the heap has grown by <see cref="Way"/> since the last one,
/// and every ten seconds while anything is refused: what waits on a quiet hub may have gone without a collection. One takes a twentieth of the time at most.
/// </remarks>
public sealed partial class MemoryGuard
{
    /// <summary>
    /// Shares of the limit. At 200 MB single allocations failed from 0.72 on, and the process ended at 0.87: the collector needs room for what is new, for gaps and for itself,
    /// and 45,000 events a second bring a tenth of it between two looks.
    /// </summary>
    internal const double AskLine = 0.45;
    internal const double BulkLine = 0.55;
    internal const double MessageLine = 0.6;
    internal const double CallLine = 0.65;
    internal const double Way = 0.05;

    /// <summary>Of the room below <see cref="CallLine"/>: no app has more, while there are several.</summary>
    internal const double MostOfApp = 1 / 2.0;

    /// <summary>So much of it an app may have when most of the room is taken, by class: bulk, message, call.</summary>
    internal const double FairOfApp = 1 / 8.0;

    private static readonly double[] Lent = [0.65, 0.7, 0.75];

    private static readonly double[] Lines = [BulkLine, MessageLine, CallLine];
    private static readonly string[] Refused = ["none", "bulk", "bulk and message", "every class but transient"];
    private static readonly TimeSpan Often = TimeSpan.FromSeconds(1);
    private static readonly TimeSpan Seldom = TimeSpan.FromSeconds(10);
    private static readonly TimeSpan Patience = TimeSpan.FromMinutes(1);
    private const int OneOf = 20;

    private readonly IHeap _heap;
    private readonly TimeProvider _time;
    private readonly ILogger<MemoryGuard> _log;
    private volatile int _level;
    private long _live;
    private long _limit;
    private int _collections = -1;
    private long _full;
    private long _liveAtFull;
    private long _askedAt;
    private bool _isAsked;
    private TimeSpan _took;

    /// <summary>Guards the heap of this process; nothing is refused before the first <see cref="Observe"/>.</summary>
    public MemoryGuard(TimeProvider time, ILogger<MemoryGuard> log)
        : this(time, log, new ProcessHeap())
    {
    }

    internal MemoryGuard(TimeProvider time, ILogger<MemoryGuard> log, IHeap heap)
    {
        (_time, _log, _heap) = (time, log, heap);
        _askedAt = time.GetTimestamp();
    }

    /// <summary>Bytes that lived after the last collection; 0 before the first look.</summary>
    public long Live => Volatile.Read(ref _live);

    /// <summary>Bytes that the heap may have; 0 before the first look.</summary>
    public long Limit => Volatile.Read(ref _limit);

    /// <summary>True while every durable event is refused.</summary>
    public bool IsFull => _level == Lines.Length;

    /// <summary>What is refused, in one line; null = nothing.</summary>
    public string? Shortage => _level is > 0 and var level ? $"memory is short, refused for it: {Refused[level]}" : null;

    /// <summary>True while events of the class are refused, whose ever they are.</summary>
    public bool Refuses(EventClass @class) => _level is > 0 and var level && level > RankOf(@class);

    /// <summary>
    /// True while events of the class are refused to one of several apps: it holds over half of the room for what waits; or over an eighth, and no more than a quarter is
    /// left (bulk 35 %, message 30 %). What is lent comes back only as its events end.
    /// </summary>
    /// <param name="class">The event's.</param>
    /// <param name="held">Bytes that what waits of the app takes.</param>
    internal bool RefusesShare(EventClass @class, long held)
    {
        var room = CallLine * Limit;
        return RankOf(@class) < Lines.Length && room > 0
            && (held > room * MostOfApp || (held > room * FairOfApp && Live > room * Lent[RankOf(@class)]));
    }

    // How many of the lines it passes before its own; all of them for what is never refused.
    private static int RankOf(EventClass @class) => @class switch
    {
        EventClass.Bulk => 0,
        EventClass.Message => 1,
        EventClass.Call => 2,
        _ => Lines.Length,
    };

    /// <summary>Looks at the heap. Next to nothing while there was no collection since the last look; for some 10 times a second.</summary>
    public void Observe()
    {
        var collections = _heap.Collections;
        if (collections != _collections)
        {
            _collections = collections;
            Take(_heap.Read());
        }

        Ask();
    }

    private void Take(in HeapReading reading)
    {
        Volatile.Write(ref _live, reading.Live);
        Volatile.Write(ref _limit, reading.Limit);
        if (reading.FullCollections != _full)
        {
            (_full, _liveAtFull) = (reading.FullCollections, reading.Live);
            _took = _isAsked ? _time.GetElapsedTime(_askedAt) : _took;
            _isAsked = false;
        }

        var share = reading.Live / (double)reading.Limit;
        var level = _level;
        while (level < Lines.Length && share >= Lines[level])
        {
            level++;
        }

        while (level > 0 && share < Lines[level - 1] - Way)
        {
            level--;
        }

        Enter(level);
    }

    private void Enter(int level)
    {
        var before = _level;
        _level = level;
        if (level > before)
        {
            Log.Short(_log, (int)(Live * 100 / Limit), Limit >> 20, Refused[level]);
        }
        else if (level == 0 && before > 0)
        {
            Log.Enough(_log, (int)(Live * 100 / Limit), Limit >> 20);
        }
    }

    private void Ask()
    {
        var hasGrown = _live - _liveAtFull >= _limit * Way;
        if ((_isAsked && _time.GetElapsedTime(_askedAt) < Patience) || _live < _limit * AskLine || (!hasGrown && _level == 0))
        {
            return;
        }

        var pause = hasGrown ? Often : Seldom;
        if (_time.GetElapsedTime(_askedAt) >= (pause > _took * OneOf ? pause : _took * OneOf))
        {
            (_isAsked, _askedAt) = (true, _time.GetTimestamp());
            _heap.CollectBehind();
        }
    }

    private static partial class Log
    {
        [LoggerMessage(1, LogLevel.Warning, "Memory is short: {Percent} % of {Megabytes} MB is in use. Refused until there is room: {Refused}.", EventName = "MemoryShort")]
        internal static partial void Short(ILogger logger, int percent, long megabytes, string refused);

        [LoggerMessage(2, LogLevel.Information, "There is memory again: {Percent} % of {Megabytes} MB is in use, nothing is refused for it.", EventName = "MemoryEnough")]
        internal static partial void Enough(ILogger logger, int percent, long megabytes);
    }
}
