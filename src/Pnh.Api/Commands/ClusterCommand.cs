using System.CommandLine;

namespace Pnh.Api.Commands;

/// <summary><c>pnh cluster [--json]</c>: has the running hub say which nodes its cluster has, and what they hold and take.</summary>
internal static class ClusterCommand
{
    /// <summary>The command.</summary>
    public static Command Create(CommandActions actions, CommandOutput output)
    {
        var json = CommandOptions.Json();
        var command = new Command("cluster", "Have the running hub say which nodes there are, what they hold and what they take") { json };
        command.TreatUnmatchedTokensAsErrors = false;
        command.SetAction(async (parsed, cancellationToken) => ConfigurationTokens.Read(parsed, output) is { } configuration
            ? await actions.ShowClusterAsync(new(parsed.GetValue(json), configuration), output, cancellationToken)
            : PnhCommandLine.UsageExitCode);
        return command;
    }
}
