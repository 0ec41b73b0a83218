using System.CommandLine;

namespace Pnh.Api.Commands;

/// <summary><c>pnh tee --app A</c>: prints a copy of each event that a hub accepts, a JSON object a line, until a signal ends it.</summary>
internal static class TeeCommand
{
    /// <summary>The command.</summary>
    public static Command Create(CommandActions actions, CommandOutput output)
    {
        var app = CommandOptions.App();
        var command = new Command("tee", "Print a copy of each event that a hub accepts, as it does; give it Pnh:Hubs and Pnh:Cluster:KeyFile, as to an edge") { app };
        command.TreatUnmatchedTokensAsErrors = false;
        command.SetAction(async (parsed, cancellationToken) => ConfigurationTokens.Read(parsed, output) is { } configuration
            ? await actions.TeeAsync(new(parsed.GetValue(app)!, configuration), output, cancellationToken)
            : PnhCommandLine.UsageExitCode);
        return command;
    }
}
