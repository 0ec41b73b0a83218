using System.CommandLine;

namespace Pnh.Api.Commands;

/// <summary><c>pnh sandbox</c>: the stand-ins for APNs, FCM and Google's OAuth alone, without a hub.</summary>
internal static class SandboxCommand
{
    /// <summary>The command.</summary>
    public static Command Create(CommandActions actions, CommandOutput output)
    {
        var command = new Command("sandbox", "Run only the stand-ins for APNs, FCM and OAuth") { TreatUnmatchedTokensAsErrors = false };
        command.SetAction(async (parsed, cancellationToken) => ConfigurationTokens.Read(parsed, output) is { } configuration
            ? await actions.SandboxAsync(configuration, cancellationToken)
            : PnhCommandLine.UsageExitCode);
        return command;
    }
}
