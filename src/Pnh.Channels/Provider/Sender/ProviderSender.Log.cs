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

        [LoggerMessage(3, LogLevel.Error, "Account {Account} has accepted nothing since start, and {Count} addresses were removed as {Reason}. Further ones stay registered until a push is accepted: its topic, environment or project may be wrong.", EventName = "AddressesKept")]
        public static partial void AddressesKept(ILogger logger, string account, string? reason, int count);
    }
}
