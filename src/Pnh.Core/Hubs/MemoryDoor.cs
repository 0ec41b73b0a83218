using Microsoft.Extensions.Logging;
using Pnh.Core.Diagnostics;
using Pnh.Core.Events;
using Pnh.Core.Intake;

namespace Pnh.Core.Hubs;

/// <summary>Whose events are refused for want of memory: everybody's when the heap is full, before that those of an app that holds more than its share. Thread-safe.</summary>
/// <param name="guard">The heap; null = nothing is refused.</param>
/// <param name="ledger">What each app holds.</param>
/// <param name="log">Gets a line when an app's share is used up, and when there is room again.</param>
internal sealed partial class MemoryDoor(MemoryGuard? guard, Ledger ledger, ILogger log)
{
    private volatile bool _isTight;

    /// <summary>True while events may be refused by their class.</summary>
    internal bool MayRefuse => _isTight || guard?.Shortage is not null;

    /// <summary>Whose events are refused, in one line; null = nobody's.</summary>
    internal string? Shortage
    {
        get
        {
            var over = _isTight ? string.Join(", ", ledger.All.Where(static books => books.IsOverShare).Select(static books => books.App)) : "";
            return guard?.Shortage ?? (over.Length > 0 ? $"memory: the share of {over} is used up, durable events of it are refused" : null);
        }
    }

    /// <summary>Looks at the heap and at what each app holds; for the caller of <see cref="MemoryGuard.Observe"/>.</summary>
    internal void Observe()
    {
        if (guard is null)
        {
            return;
        }

        guard.Observe();
        var isTight = false;
        var isShared = ledger.IsShared;
        foreach (var books in ledger.All)
        {
            var held = isShared ? books.Held : 0;
            var isOver = guard.RefusesShare(EventClass.Bulk, held);
            isTight |= isOver || held > guard.Limit * MemoryGuard.CallLine * MemoryGuard.FairOfApp;
            if (isOver != books.IsOverShare)
            {
                books.IsOverShare = isOver;
                Say(books.App, held, isOver);
            }
        }

        _isTight = isTight;
    }

    /// <summary>Whether an event of the app is taken, as far as memory goes.</summary>
    internal DoorAnswer Ask(string app, EventClass @class) =>
        guard?.Refuses(@class) == true ? DoorAnswer.MemoryFull
        : _isTight && guard!.RefusesShare(@class, ledger.Of(app).Held) ? DoorAnswer.ShareUsedUp
        : DoorAnswer.Taken;

    private void Say(string app, long held, bool isOver)
    {
        if (isOver)
        {
            Log.ShareUsedUp(log, app, held >> 20);
        }
        else
        {
            Log.ShareHasRoom(log, app, held >> 20);
        }
    }

    private static partial class Log
    {
        [LoggerMessage(1, LogLevel.Warning, "App {App} has used up its share of the memory for what waits ({Megabytes} MB): its durable events are refused, bulk first.", EventName = "ShareUsedUp")]
        internal static partial void ShareUsedUp(ILogger logger, string app, long megabytes);

        [LoggerMessage(2, LogLevel.Information, "App {App} has room in its share of the memory again ({Megabytes} MB wait).", EventName = "ShareHasRoom")]
        internal static partial void ShareHasRoom(ILogger logger, string app, long megabytes);
    }
}

/// <summary>What the door says to an event.</summary>
public enum DoorAnswer
{
    /// <summary>There is room.</summary>
    Taken,

    /// <summary>Too many wait inside.</summary>
    Overloaded,

    /// <summary>There is no memory for events of this class.</summary>
    MemoryFull,

    /// <summary>There is memory, but the app has had its share of it.</summary>
    ShareUsedUp,
}
