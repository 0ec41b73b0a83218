using Microsoft.Extensions.Configuration.CommandLine;
using Microsoft.Extensions.Configuration.EnvironmentVariables;
using Microsoft.Extensions.Configuration.Json;
using Pnh.Api.Commands;
using Pnh.Api.Configuration;
using Pnh.Api.Doctor;

namespace Pnh.Api.Hosting;

/// <summary>The commands that look at the configuration and start nothing: no folder is opened, no port, no connection. Files of keys are read.</summary>
internal static class ConfigCommands
{
    private const string Hidden = "(hidden)";

    /// <summary><c>config check</c>: what a node of this role would refuse to start with, but for what only its start can see: folder and ports.</summary>
    public static async Task<int> CheckAsync(ServeRequest request, CommandOutput output)
    {
        var errors = new ConfigurationErrors();
        if (request.Role == Role.Edge)
        {
            await using var edge = EdgeHost.Build(request.Configuration, errors);
        }
        else
        {
            await CheckHubAsync(request, errors);
        }

        errors.WriteTo(output.Error);
        if (!errors.None)
        {
            return ConfigurationErrors.ExitCode;
        }

        foreach (var doubt in HubCommands.ReadHub(request.Configuration).Read.Options.Doubts)
        {
            await output.Error.WriteLineAsync($"pnh: look: {doubt}");
        }

        await output.Out.WriteLineAsync("the configuration is good");
        return 0;
    }

    /// <summary><c>config show</c>: what is set below <c>Pnh</c>, in the order of the keys.</summary>
    public static async Task<int> ShowAsync(string[] tokens, CommandOutput output)
    {
        var configuration = HubBuilder.Create(tokens).Configuration;
        var providers = ((IConfigurationRoot)configuration).Providers.Reverse().ToList();
        foreach (var (key, value) in configuration.GetSection(PnhOptions.SectionName).AsEnumerable().Where(static one => one.Value is not null).OrderBy(static one => one.Key, StringComparer.OrdinalIgnoreCase))
        {
            var source = SourceOf(providers.First(provider => provider.TryGet(key, out _)));
            await output.Out.WriteLineAsync($"{key} = {(IsSecret(key) ? Hidden : UrlPassword.Hide(value!))}  ({source})");
        }

        // A number that no configuration says, and that history depends on.
        var read = HubCommands.ReadHub(tokens).Read;
        if (read.Errors.None && read.Options.Journal.MaxBytes is null && DiskCheck.Bound(read.Options.Data, read.Options.Journal) is { } bound)
        {
            await output.Out.WriteLineAsync(FormattableString.Invariant($"Pnh:Journal:MaxBytes = {bound}  (chosen from what the disk of {read.Options.Data} has free)"));
        }

        return 0;
    }

    private static async Task CheckHubAsync(ServeRequest request, ConfigurationErrors errors)
    {
        await using var app = BuildChecked(request, errors).App;
    }

    /// <summary>A hub's channels, judged and not started, with what is wrong in its configuration; the caller disposes it.</summary>
    internal static (WebApplication App, PnhOptions Options) BuildChecked(ServeRequest request, ConfigurationErrors errors)
    {
        var (builder, _, read) = HubCommands.ReadHub(request.Configuration);
        errors.AddAll(read.Errors);
        HubStart.RefuseWhatIsNotThere(request.Role, read.Options, errors);
        CertificateCheck.Check(builder.Configuration, read.Options, builder.Environment.ContentRootPath, errors);
        builder.Services.AddSingleton(TimeProvider.System);
        builder.Services.AddTransports(read.Options);
        var app = builder.Build();
        HubHost.CheckChannels(app.Services, errors, ofUse: true);
        return (app, read.Options);
    }

    // By its name, so that a new secret is hidden too, and a list of them. A connection string has a password in it.
    private static bool IsSecret(string key) =>
        Array.Exists(["Secret", "Secrets", "Password", "Postgres"], name => key.TrimEnd([':', .. "0123456789"]).EndsWith(name, StringComparison.OrdinalIgnoreCase));

    private static string SourceOf(IConfigurationProvider provider) => provider switch
    {
        JsonConfigurationProvider file => file.Source.Path ?? "a file",
        EnvironmentVariablesConfigurationProvider => "environment",
        CommandLineConfigurationProvider => "command line",
        _ => "the program",
    };
}
