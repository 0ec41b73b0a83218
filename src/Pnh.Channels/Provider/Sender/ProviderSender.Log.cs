using Microsoft.Extensions.Logging;

namespace Pnh.Channels.Provider.Sender;

internal abstract partial class ProviderSender
{
    private static partial class Log
    {
        [LoggerMessage(1, LogLevel.Error, "The provider refuses account {Account}: {Reason}. Nothing of it can be sent until its configuration is changed.", EventName = "Misconfigured")]
        public static partial void Misconfigured(ILogger logger, string account, string? reason);

        [LoggerMessage(2, LogLevel.Information, "The provider accepts account {Account} again.", EventName = "Accepted")]
        public static partial void Accepted(ILogger logger, string account);
    }
}
