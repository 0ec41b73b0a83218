using Microsoft.Extensions.Logging;

namespace Pnh.Core.Hubs;

public sealed partial class Hub
{
    private static partial class Log
    {
        [LoggerMessage(8, LogLevel.Error, "A shard's timers broke; this is a bug.", EventName = "TickBroke")]
        internal static partial void TickBroke(ILogger logger, Exception bug);

        [LoggerMessage(9, LogLevel.Error, "The journal broke on event {Id} of app {App}, which was refused with 503; this is a bug.", EventName = "JournalBroke")]
        internal static partial void JournalBroke(ILogger logger, string id, string app, Exception bug);

        [LoggerMessage(10, LogLevel.Error, "An answer to event {Id} of app {App} could not be handled; this is a bug.", EventName = "AnswerBroke")]
        internal static partial void AnswerBroke(ILogger logger, string id, string app, Exception bug);
    }
}
