using System.CommandLine;

namespace Pnh.Api.Commands;

/// <summary><c>pnh addresses</c>: the accounts of which addresses rest. <c>release</c> and <c>drop</c> end that, for one account.</summary>
internal static class AddressesCommand
{
    /// <summary>The command.</summary>
    public static Command Create(CommandActions actions, CommandOutput output)
    {
        var list = Create("addresses", "Print the provider accounts of which addresses rest: they get no pushes, as too many were refused at once", null, actions, output);
        list.Add(Create("release", "Let an account's resting addresses have pushes again", true, actions, output));
        list.Add(Create("drop", "Take an account's resting addresses off their devices", false, actions, output));
        return list;
    }

    private static Command Create(string name, string description, bool? releases, CommandActions actions, CommandOutput output)
    {
        var account = new Option<string>("--account") { Description = "The account, as pnh addresses shows it: apns/demo/0", Required = true };
        var command = new Command(name, description) { TreatUnmatchedTokensAsErrors = false };
        if (releases is not null)
        {
            command.Add(account);
        }

        command.SetAction(async (parsed, cancellationToken) => ConfigurationTokens.Read(parsed, output) is { } configuration
            ? await actions.AddressesAsync(new(releases, releases is null ? null : parsed.GetValue(account), configuration), output, cancellationToken)
            : PnhCommandLine.UsageExitCode);
        return command;
    }
}
