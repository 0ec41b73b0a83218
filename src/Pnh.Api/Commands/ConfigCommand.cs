using System.CommandLine;

namespace Pnh.Api.Commands;

/// <summary><c>pnh config check</c>: whether a node would start with this configuration, all errors at once. <c>pnh config show</c>: what is set, and where; secrets are hidden.</summary>
internal static class ConfigCommand
{
    /// <summary>The command.</summary>
    public static Command Create(CommandActions actions, CommandOutput output) => new("config", "The configuration, without starting anything")
    {
        CreateCheck(actions, output),
        CreateShow(actions, output),
    };

    private static Command CreateCheck(CommandActions actions, CommandOutput output)
    {
        var role = CommandOptions.Role();
        var check = new Command("check", "Say what is wrong in the configuration of a node; exit code 2 when something is") { role };
        check.TreatUnmatchedTokensAsErrors = false;
        check.SetAction(async (parsed, _) => ConfigurationTokens.Read(parsed, output) is { } configuration
            ? await actions.CheckConfigAsync(new(CommandOptions.ReadRole(parsed, role), configuration), output)
            : PnhCommandLine.UsageExitCode);
        return check;
    }

    private static Command CreateShow(CommandActions actions, CommandOutput output)
    {
        var show = new Command("show", "Print what is set, a line each, and where; secrets are hidden");
        show.TreatUnmatchedTokensAsErrors = false;
        show.SetAction(async (parsed, _) => ConfigurationTokens.Read(parsed, output) is { } configuration
            ? await actions.ShowConfigAsync(configuration, output)
            : PnhCommandLine.UsageExitCode);
        return show;
    }
}
