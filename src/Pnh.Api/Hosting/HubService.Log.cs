namespace Pnh.Api.Hosting;

internal sealed partial class HubService
{
    private static partial class Log
    {
        [LoggerMessage(1, LogLevel.Warning, "App {App} is not configured: its stored keys are not taken.", EventName = "KeysSkipped")]
        internal static partial void KeysSkipped(ILogger logger, string app);

        [LoggerMessage(2, LogLevel.Warning,
            "There are no time zones in {Folder}: quiet hours in any zone but UTC are refused, and stored ones count as UTC. Install tzdata, or name its folder in TZDIR.",
            EventName = "NoTimeZones")]
        internal static partial void NoTimeZones(ILogger logger, string folder);

        [LoggerMessage(3, LogLevel.Warning, "{Warning}", EventName = "SharedFolder")]
        internal static partial void SharedFolder(ILogger logger, string warning);

        [LoggerMessage(4, LogLevel.Warning, "{Doubt}.", EventName = "Doubt")]
        internal static partial void Doubt(ILogger logger, string doubt);
    }
}
