using System.CommandLine;

namespace Pnh.Api.Commands;

/// <summary>
/// <c>pnh key add --app A --scope send,read</c>: has the running hub make a publisher key, and prints it once. <c>key list --app A</c> shows an app's keys,
/// <c>key revoke --app A --id ID</c> ends one.
/// </summary>
internal static class KeyCommand
{
    /// <summary>The command.</summary>
    public static Command Create(CommandActions actions, CommandOutput output) =>
        new("key", "Publisher keys") { CreateAdd(actions, output), CreateList(actions, output), CreateRevoke(actions, output) };

    private static Command CreateAdd(CommandActions actions, CommandOutput output)
    {
        var app = CommandOptions.App();
        var scope = CommandOptions.Scope();
        var add = new Command("add", "Have the running hub make a key, and print it: it is shown only once") { app, scope };
        add.TreatUnmatchedTokensAsErrors = false;
        add.SetAction(async (parsed, cancellationToken) => ConfigurationTokens.Read(parsed, output) is { } configuration
            ? await actions.AddKeyAsync(new(parsed.GetValue(app)!, parsed.GetValue(scope), configuration), output, cancellationToken)
            : PnhCommandLine.UsageExitCode);
        return add;
    }

    private static Command CreateList(CommandActions actions, CommandOutput output)
    {
        var app = CommandOptions.App();
        var list = new Command("list", "Print an app's keys, one a line: id, when it was made, scopes") { app };
        list.TreatUnmatchedTokensAsErrors = false;
        list.SetAction(async (parsed, cancellationToken) => ConfigurationTokens.Read(parsed, output) is { } configuration
            ? await actions.ListKeysAsync(new(parsed.GetValue(app)!, configuration), output, cancellationToken)
            : PnhCommandLine.UsageExitCode);
        return list;
    }

    private static Command CreateRevoke(CommandActions actions, CommandOutput output)
    {
        var app = CommandOptions.App();
        var id = CommandOptions.KeyId();
        var revoke = new Command("revoke", "Have the running hub refuse a key from now on") { app, id };
        revoke.TreatUnmatchedTokensAsErrors = false;
        revoke.SetAction(async (parsed, cancellationToken) => ConfigurationTokens.Read(parsed, output) is { } configuration
            ? await actions.RevokeKeyAsync(new(parsed.GetValue(app)!, parsed.GetValue(id)!, configuration), output, cancellationToken)
            : PnhCommandLine.UsageExitCode);
        return revoke;
    }
}
