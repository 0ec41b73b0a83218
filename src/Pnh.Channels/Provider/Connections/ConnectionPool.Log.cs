using Microsoft.Extensions.Logging;

namespace Pnh.Channels.Provider.Connections;

internal sealed partial class ConnectionPool
{
    private static partial class Log
    {
        [LoggerMessage(1, LogLevel.Information, "{Host} ends connection {Number} as a matter of routine: {Reason}", EventName = "GoAway")]
        public static partial void GoAway(ILogger logger, string host, long number, string? reason);

        [LoggerMessage(2, LogLevel.Warning, "{Host} ends connection {Number} with HTTP/2 error {ErrorCode}: {Reason}", EventName = "GoAwayError")]
        public static partial void GoAwayError(ILogger logger, string host, long number, long errorCode, string? reason);

        [LoggerMessage(3, LogLevel.Warning, "Connection {Number} to {Host} is given up: {InFlight} requests without any answer.", EventName = "ConnectionStalled")]
        public static partial void Stalled(ILogger logger, string host, long number, int inFlight);

        [LoggerMessage(4, LogLevel.Warning, "No connection to {Host}: {Fault}", EventName = "DialFailed")]
        public static partial void DialFailed(ILogger logger, string host, string fault);

        [LoggerMessage(6, LogLevel.Warning, "{Host} broke the protocol on connection {Number}, which ended with HTTP/2 error {ErrorCode}.", EventName = "ProtocolBroken")]
        public static partial void ProtocolBroken(ILogger logger, string host, long number, long errorCode);
    }
}
