namespace Pnh.Api.Hosting;

internal sealed partial class HubService
{
    private static partial class Log
    {
        [LoggerMessage(1, LogLevel.Warning, "App {App} is not configured: its stored keys are not taken.", EventName = "KeysSkipped")]
        internal static partial void KeysSkipped(ILogger logger, string app);
    }
}
