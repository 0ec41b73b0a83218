using System.CommandLine;

namespace Pnh.Api.Commands;

/// <summary><c>pnh console</c>: has the running hub make a one-time link into its console, and prints it.</summary>
internal static class ConsoleCommand
{
    /// <summary>The command.</summary>
    public static Command Create(CommandActions actions, CommandOutput output)
    {
        var command = new Command("console", "Have the running hub make a link that signs one browser in to its console, and print it")
        {
            TreatUnmatchedTokensAsErrors = false,
        };
        command.SetAction(async (parsed, cancellationToken) => ConfigurationTokens.Read(parsed, output) is { } configuration
            ? await actions.ConsoleAsync(configuration, output, cancellationToken)
            : PnhCommandLine.UsageExitCode);
        return command;
    }
}
