using System.CommandLine;

namespace Pnh.Api.Commands;

/// <summary><c>pnh serve [--role all|hub|edge]</c>: runs the node; also what <c>pnh</c> alone does.</summary>
internal static class ServeCommand
{
    /// <summary>The command.</summary>
    public static Command Create(CommandActions actions, CommandOutput output)
    {
        var command = new Command("serve", "Run the hub (the default)");
        Fill(command, actions, output);
        return command;
    }

    /// <summary>Gives a command the options and the action of serve.</summary>
    public static void Fill(Command command, CommandActions actions, CommandOutput output)
    {
        var role = CommandOptions.Role();
        command.Options.Add(role);
        command.TreatUnmatchedTokensAsErrors = false;
        command.SetAction(async (parsed, cancellationToken) =>
        {
            if (ConfigurationTokens.Read(parsed, output) is not { } configuration)
            {
                return PnhCommandLine.UsageExitCode;
            }

            return await actions.ServeAsync(new(CommandOptions.ReadRole(parsed, role), configuration), cancellationToken);
        });
    }
}
