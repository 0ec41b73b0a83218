using System.CommandLine;

namespace Pnh.Api.Commands;

/// <summary><c>pnh key add --app A --scope send,read</c>: has the running hub make a publisher key, and prints it once.</summary>
internal static class KeyCommand
{
    /// <summary>The command.</summary>
    public static Command Create(CommandActions actions, CommandOutput output)
    {
        var app = CommandOptions.App();
        var scope = CommandOptions.Scope();
        var add = new Command("add", "Have the running hub make a key, and print it: it is shown only once") { app, scope };
        add.TreatUnmatchedTokensAsErrors = false;
        add.SetAction(async (parsed, cancellationToken) => ConfigurationTokens.Read(parsed, output) is { } configuration
            ? await actions.AddKeyAsync(new(parsed.GetValue(app)!, parsed.GetValue(scope), configuration), output, cancellationToken)
            : PnhCommandLine.UsageExitCode);
        return new Command("key", "Publisher keys") { add };
    }
}
