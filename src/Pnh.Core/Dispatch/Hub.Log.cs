using Microsoft.Extensions.Logging;

namespace Pnh.Core.Dispatch;

public sealed partial class Hub
{
    private static partial class Log
    {
        [LoggerMessage(1, LogLevel.Information, "{Count} unfinished events of the previous process go on.", EventName = "Started")]
        internal static partial void Started(ILogger logger, int count);

        [LoggerMessage(2, LogLevel.Error, "The stored event {Id} cannot be read any more ({Code}); it is left in the journal.", EventName = "Unreadable")]
        internal static partial void Unreadable(ILogger logger, string id, string code);

        [LoggerMessage(3, LogLevel.Error, "Events are refused with 503 (said every 5 s at most): {Fault}", EventName = "StoreUnavailable")]
        internal static partial void StoreUnavailable(ILogger logger, string fault);

        [LoggerMessage(14, LogLevel.Error, "What was accepted waits for the data folder (said every 5 s at most): {Fault}", EventName = "StoreAwaited")]
        internal static partial void StoreAwaited(ILogger logger, string fault);

        [LoggerMessage(4, LogLevel.Error, "Event {Id} was accepted but only partly planned: {Fault} The rest goes on at the next start.", EventName = "DispatchCut")]
        internal static partial void DispatchCut(ILogger logger, string id, string fault, Exception? bug);

        [LoggerMessage(13, LogLevel.Warning, "Event {Id} of app {App} to topic {Topic} has waited {Seconds:F0} s for its first members: too many fan-outs are under way.", EventName = "FanOutWaits")]
        internal static partial void FanOutWaits(ILogger logger, string id, string app, string topic, double seconds);

        [LoggerMessage(5, LogLevel.Warning, "{Channel} refused event {Id} of app {App} for good: {Reason}", EventName = "Refused")]
        internal static partial void Refused(ILogger logger, string channel, string id, string app, string? reason);

        [LoggerMessage(6, LogLevel.Error, "The {Channel} sender broke on event {Id} of app {App}; this is a bug.", EventName = "SenderBroke")]
        internal static partial void SenderBroke(ILogger logger, string channel, string id, string app, Exception bug);

        [LoggerMessage(8, LogLevel.Error, "A shard's timers broke; this is a bug.", EventName = "TickBroke")]
        internal static partial void TickBroke(ILogger logger, Exception bug);

        [LoggerMessage(9, LogLevel.Error, "The journal broke on event {Id} of app {App}, which was refused with 503; this is a bug.", EventName = "JournalBroke")]
        internal static partial void JournalBroke(ILogger logger, string id, string app, Exception bug);

        [LoggerMessage(10, LogLevel.Error, "An answer to event {Id} of app {App} could not be handled; this is a bug.", EventName = "AnswerBroke")]
        internal static partial void AnswerBroke(ILogger logger, string id, string app, Exception bug);

        [LoggerMessage(12, LogLevel.Error, "Event {Id} of app {App} was taken back, but not cleared everywhere; this is a bug.", EventName = "ClearBroke")]
        internal static partial void ClearBroke(ILogger logger, string id, string app, Exception bug);

        [LoggerMessage(11, LogLevel.Warning, "Stored events of app {App} could not be read for a session: {Fault} Tried again soon.", EventName = "LoadFailed")]
        internal static partial void LoadFailed(ILogger logger, string app, string fault, Exception? bug);
    }
}
