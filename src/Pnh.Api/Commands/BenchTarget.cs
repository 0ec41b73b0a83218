using System.Globalization;
using System.Net;
using Pnh.Api.Configuration;
using Pnh.Api.FirstStart;
using Pnh.Storage.Files;

namespace Pnh.Api.Commands;

/// <summary>What the load tester needs to know of the hub that runs with a configuration, as its options by name: whatever can be found here need not be said.</summary>
internal static class BenchTarget
{
    /// <summary>The scopes that a profile may use.</summary>
    private const string Scopes = "send,register,read,admin";

    /// <summary>The options that hold unless given; <c>key</c> and <c>secret</c> are missing when they are not known here.</summary>
    /// <param name="options">The hub's.</param>
    /// <param name="given">The load tester's command line: its <c>--app</c> chooses, its <c>--host</c> or <c>--port</c> means another hub than the one here.</param>
    public static Dictionary<string, string> Of(PnhOptions options, IReadOnlyList<string> given)
    {
        var app = Given(given, "--app") ?? (options.Apps.Count == 1 ? options.Apps.Keys.First() : DemoApp.Name);
        var found = new Dictionary<string, string>(StringComparer.Ordinal) { ["app"] = app, ["data"] = options.Data };
        if (options.Apps.GetValueOrDefault(app)?.Tokens?.Hs256Secret is { } secret)
        {
            found["secret"] = secret;
        }

        if (app == DemoApp.Name && DemoApp.Key(options.Data) is { } key)
        {
            found["key"] = key;
        }

        if (!given.Contains("--host") && !given.Contains("--port"))
        {
            AddAddresses(options, found);
        }

        return found;
    }

    /// <summary>Why it cannot be run, in a line with what to do; null = it can.</summary>
    public static string? FindProblem(IReadOnlyDictionary<string, string> found, IReadOnlyList<string> given)
    {
        var app = found["app"];
        if (!found.ContainsKey("key") && !given.Contains("--key"))
        {
            return $"give a publisher key of app '{app}' with --key; pnh key add --app {app} --scope {Scopes} prints one";
        }

        return found.ContainsKey("secret") || given.Contains("--secret") || given.Contains("--secret-file")
            ? null
            : $"give the secret of app '{app}' (Pnh:Apps:{app}:Tokens:Hs256Secret) with --secret, or the hub's own configuration, like --Pnh:Data=…";
    }

    private static void AddAddresses(PnhOptions options, Dictionary<string, string> found)
    {
        // The load tester speaks plain HTTP over IPv4.
        var address = options.Urls.FirstOrDefault(static url => !url.IsHttps) ?? options.Urls[0];
        found["host"] = (address.Address is null || address.Address.Equals(IPAddress.Any) || address.Address.Equals(IPAddress.IPv6Any) ? IPAddress.Loopback : address.Address).ToString();
        found["port"] = Text(address.Port);
        found["operations-port"] = Text(options.OperationsUrls[0].Port);
        found["phones-port"] = Text(options.SandboxPorts.Fcm);
        if (DataFolder.FindHolder(options.Data) is { } process)
        {
            found["server"] = Text(process);
        }
    }

    private static string? Given(IReadOnlyList<string> given, string name)
    {
        for (var i = 0; i + 1 < given.Count; i++)
        {
            if (given[i] == name)
            {
                return given[i + 1];
            }
        }

        return null;
    }

    private static string Text(int number) => number.ToString(CultureInfo.InvariantCulture);
}
