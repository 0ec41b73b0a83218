using System.CommandLine;

namespace Pnh.Api.Commands;

/// <summary><c>pnh doctor</c>: what is wrong on this machine for a hub of this configuration, with the cure; exit code 1 when something is.</summary>
internal static class DoctorCommand
{
    /// <summary>The command.</summary>
    public static Command Create(CommandActions actions, CommandOutput output)
    {
        var json = CommandOptions.Json();
        var command = new Command("doctor", "Look at what a hub needs: configuration, disk, ports, open files, providers, clock; exit code 1 when something is bad") { json };
        command.TreatUnmatchedTokensAsErrors = false;
        command.SetAction(async (parsed, cancellationToken) => ConfigurationTokens.Read(parsed, output) is { } configuration
            ? await actions.DoctorAsync(new(parsed.GetValue(json), configuration), output, cancellationToken)
            : PnhCommandLine.UsageExitCode);
        return command;
    }
}
