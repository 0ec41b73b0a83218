namespace Pnh.Api.WebConsole;

internal sealed partial class SnapshotFeed
{
    private static partial class Log
    {
        [LoggerMessage(1, LogLevel.Error, "The console's snapshot failed; viewers keep the last one")]
        public static partial void SnapshotFailed(ILogger logger, Exception exception);
    }
}
