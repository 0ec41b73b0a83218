using Pnh.Core.Stores;

namespace Pnh.Api.Problems;

internal sealed partial class ExceptionProblems
{
    private static partial class Log
    {
        /// <summary>A caller's broken request is the caller's business (debug); a store that is down is loud already where it failed.</summary>
        public static void Failed(ILogger logger, Exception exception, string route)
        {
            if (exception is BadHttpRequestException or StoreUnavailableException)
            {
                Refused(logger, route, exception.Message);
            }
            else
            {
                Bug(logger, exception, route);
            }
        }

        [LoggerMessage(1, LogLevel.Debug, "Request to {Route} refused: {Reason}")]
        private static partial void Refused(ILogger logger, string route, string reason);

        [LoggerMessage(3, LogLevel.Debug, "Request to {Route} ended: its peer has gone: {Reason}")]
        public static partial void Gone(ILogger logger, string route, string reason);

        [LoggerMessage(2, LogLevel.Error, "Request to {Route} failed")]
        private static partial void Bug(ILogger logger, Exception exception, string route);
    }
}
