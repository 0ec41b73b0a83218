using System.CommandLine;
using Pnh.Api.Access;
using Pnh.Api.Operations;
using Pnh.Channels.Settings;
using Pnh.Core.Events;

namespace Pnh.Api.Commands;

/// <summary>Options that several commands have, checked while parsing.</summary>
internal static class CommandOptions
{
    /// <summary><c>--role</c>, <c>all</c> unless given.</summary>
    public static Option<string> Role()
    {
        var role = new Option<string>("--role")
        {
            Description = "What the node does: all; hub (all but sockets); edge (sockets of a hub on another node)",
            DefaultValueFactory = static _ => "all",
        };
        role.AcceptOnlyFromAmong("all", "hub", "edge");
        return role;
    }

    /// <summary>What <see cref="Role"/> was given.</summary>
    public static Role ReadRole(ParseResult parsed, Option<string> role) => Enum.Parse<Role>(parsed.GetValue(role)!, ignoreCase: true);

    /// <summary><c>--app</c>, required.</summary>
    public static Option<string> App() => Checked("--app", "The app", required: true, static text =>
        Ids.IsApp(text) ? null : "--app: app names are 1 to 32 characters of a-z, 0-9 and -");

    /// <summary><c>--user</c> or <c>--device</c>.</summary>
    public static Option<string> Name(string name, string description, bool required) => Checked(name, description, required, text =>
        Ids.IsName(text) ? null : $"{name}: ids are 1 to 128 printable characters, not . or ..");

    /// <summary><c>--id</c> of a key, required.</summary>
    public static Option<string> KeyId() => Checked("--id", "The key's id, as key list shows it; its beginning is enough", required: true, static text =>
        KeysEndpoint.IsId(text) ? null : $"--id: ids are {KeysEndpoint.FewestIdDigits} to 64 hexadecimal digits; pnh key list shows them");

    /// <summary><c>--topics</c>: names, or beginnings with a <c>*</c> behind them; parted by commas, by spaces, or given again.</summary>
    public static Option<string[]> Topics() => new("--topics")
    {
        Description = "Topics that its sessions may join, or beginnings like room-*; several parted by commas; none unless given",
        HelpName = "topics",
        AllowMultipleArgumentsPerToken = true,
        CustomParser = static result =>
        {
            string[] topics = [.. result.Tokens.SelectMany(static token => token.Value.Split(',', StringSplitOptions.TrimEntries))];
            if (topics.Length > TokenClaims.ListEntries || !topics.All(static topic => Ids.IsName(topic)))
            {
                result.AddError($"--topics: at most {TokenClaims.ListEntries} topics of 1 to 128 printable characters, not . or ..");
            }

            return topics;
        },
    };

    /// <summary><c>--ttl</c>, one hour unless given.</summary>
    public static Option<TimeSpan> Lifetime() => new("--ttl")
    {
        Description = "How long it is valid: 30s, 15m, 1h, 7d or hh:mm:ss",
        DefaultValueFactory = static _ => TimeSpan.FromHours(1),
        CustomParser = static result =>
        {
            if (!DurationText.TryParse(result.Tokens[0].Value, out var lifetime) || lifetime <= TimeSpan.Zero)
            {
                result.AddError("--ttl: must be a time like 30s, 15m, 1h or 7d");
            }

            return lifetime;
        },
    };

    /// <summary><c>--scope</c>, required: names parted by commas or spaces.</summary>
    public static Option<Scope> Scope() => new("--scope")
    {
        Description = $"What the key may do: {string.Join(", ", Scopes.Names)}; several parted by commas",
        Required = true,
        HelpName = "scopes",
        CustomParser = static result =>
        {
            if (!Scopes.TryParse(result.Tokens[0].Value, out var scopes, out var unknown))
            {
                result.AddError($"--scope: {(unknown is null ? "is empty" : $"'{unknown}' is unknown")}; use {string.Join(", ", Scopes.Names)}");
            }

            return scopes;
        },
    };

    /// <summary><c>--json</c>.</summary>
    public static Option<bool> Json() => new("--json") { Description = "Print JSON, for a program to read" };

    private static Option<string> Checked(string name, string description, bool required, Func<string, string?> check)
    {
        var option = new Option<string>(name) { Description = description, Required = required };
        option.Validators.Add(result =>
        {
            if (result.Tokens is [var token] && check(token.Value) is { } complaint)
            {
                result.AddError(complaint);
            }
        });
        return option;
    }
}
