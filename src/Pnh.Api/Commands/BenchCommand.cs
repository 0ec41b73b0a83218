using System.CommandLine;
using Pnh.LoadTest;

namespace Pnh.Api.Commands;

/// <summary>
/// <c>pnh bench PROFILE [--option value …]</c>: drives a hub with load and checks what arrives. The options are the load tester's own; what has a colon in
/// its name is configuration, as everywhere.
/// </summary>
internal static class BenchCommand
{
    /// <summary>The command.</summary>
    public static Command Create(CommandActions actions, CommandOutput output)
    {
        var profile = new Argument<string>("profile") { Description = $"One of: {LoadTester.Profiles}" };
        var command = new Command(
            "bench", "Load a hub and check what arrives; on the hub that runs here no option is needed. --sessions, --rate, --seconds … are in bench/README.md") { profile };
        command.TreatUnmatchedTokensAsErrors = false;
        command.SetAction((parsed, _) =>
        {
            List<string> arguments = [parsed.GetValue(profile)!];
            List<string> configuration = [];
            foreach (var token in parsed.UnmatchedTokens)
            {
                (token.StartsWith("--", StringComparison.Ordinal) && token.Contains(':', StringComparison.Ordinal) ? configuration : arguments).Add(token);
            }

            return actions.BenchAsync(new([.. arguments], [.. configuration]), output);
        });
        return command;
    }
}
