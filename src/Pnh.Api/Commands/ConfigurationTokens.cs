using System.CommandLine;

namespace Pnh.Api.Commands;

/// <summary>
/// Tokens that no command knows go to the configuration when they have its form, <c>--Name=value</c> or <c>--Name value</c>. Anything else is an
/// error of the command line: a mistyped command must not start a hub.
/// </summary>
internal static class ConfigurationTokens
{
    /// <summary>The tokens for the configuration; null, with a line of complaint, when one of them is nothing that configuration takes.</summary>
    public static string[]? Read(ParseResult parsed, CommandOutput output)
    {
        var valueMayFollow = false;
        foreach (var token in parsed.UnmatchedTokens)
        {
            var isName = token.StartsWith("--", StringComparison.Ordinal) && token.Length > 2;
            if (!isName && !valueMayFollow)
            {
                output.Error.WriteLine($"pnh: '{token}' is no command, option or configuration; see pnh --help");
                return null;
            }

            // --flag names without a colon are only known as the host's own; a typo of an option would otherwise vanish in silence.
            if (isName && !IsConfigurationName(token.AsSpan(2)))
            {
                output.Error.WriteLine($"pnh: unknown option '{token.Split('=')[0]}'; configuration looks like --Pnh:Data=/var/lib/pnh");
                return null;
            }

            valueMayFollow = isName && !token.Contains('=', StringComparison.Ordinal);
        }

        if (valueMayFollow)
        {
            output.Error.WriteLine($"pnh: '{parsed.UnmatchedTokens[^1]}' lacks its value");
            return null;
        }

        return [.. parsed.UnmatchedTokens];
    }

    private static bool IsConfigurationName(ReadOnlySpan<char> token)
    {
        var equals = token.IndexOf('=');
        var name = equals < 0 ? token : token[..equals];
        return name.Contains(':') || name is "environment" or "contentRoot" or "applicationName";
    }
}
