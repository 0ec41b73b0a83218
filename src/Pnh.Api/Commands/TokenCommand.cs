using System.CommandLine;

namespace Pnh.Api.Commands;

/// <summary><c>pnh token --app A --user U [--device D] [--topics T …] [--ttl 1h]</c>: prints a client token.</summary>
internal static class TokenCommand
{
    /// <summary>The command.</summary>
    public static Command Create(CommandActions actions, CommandOutput output)
    {
        var app = CommandOptions.App();
        var user = CommandOptions.Name("--user", "The user that the token speaks for", required: true);
        var device = CommandOptions.Name("--device", "The only device that may use it; any of the user's unless given", required: false);
        var topics = CommandOptions.Topics();
        var lifetime = CommandOptions.Lifetime();
        var command = new Command("token", "Print a client token (JWT)") { app, user, device, topics, lifetime };
        command.TreatUnmatchedTokensAsErrors = false;
        command.SetAction(async (parsed, _) => ConfigurationTokens.Read(parsed, output) is { } configuration
            ? await actions.TokenAsync(
                new(parsed.GetValue(app)!, parsed.GetValue(user)!, parsed.GetValue(device), parsed.GetValue(topics) ?? [], parsed.GetValue(lifetime), configuration), output)
            : PnhCommandLine.UsageExitCode);
        return command;
    }
}
