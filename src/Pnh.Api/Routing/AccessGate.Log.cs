namespace Pnh.Api.Routing;

internal sealed partial class AccessGate
{
    private static partial class Log
    {
        /// <summary>Debug: anyone can cause any number of them.</summary>
        [LoggerMessage(1, LogLevel.Debug, "Credential refused: {Reason}")]
        public static partial void Refused(ILogger logger, string reason);
    }
}
