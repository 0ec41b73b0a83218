using System.Text.Json;
using System.Text.Json.Serialization;
using Pnh.Api.Commands;
using Pnh.Api.Configuration;
using Pnh.Api.Doctor;
using Pnh.Api.Listeners;
using Pnh.Channels.Provider.Connections;
using Pnh.Core.Diagnostics;
using Pnh.Core.Push;
using Pnh.Storage.Files;

namespace Pnh.Api.Hosting;

/// <summary><c>doctor</c>: one line for each thing that a hub needs. Starts nothing, writes one file that it removes, and sends each account's provider a push that reaches nobody.</summary>
internal static class DoctorCommands
{
    // What a hub has open when its listeners are made, and a few.
    private const int OpenAtStart = 200;

    /// <summary>Exit code 1 when something is bad, 2 when the configuration is wrong.</summary>
    public static async Task<int> RunAsync(DoctorRequest request, CommandOutput output, CancellationToken cancellationToken)
    {
        var errors = new ConfigurationErrors();
        var (app, options) = ConfigCommands.BuildChecked(new ServeRequest(Role.All, request.Configuration), errors);
        await using var built = app;
        errors.WriteTo(output.Error);
        if (!errors.None)
        {
            return ConfigurationErrors.ExitCode;
        }

        var found = new List<Finding> { new(Grade.Good, "configuration", "good") };
        found.AddRange(DiskCheck.Look(options.Data, options.Journal, TimeProvider.System));
        found.Add(Files(options));
        found.AddRange(CertificateCheck.Look(app.Configuration, options, app.Environment.ContentRootPath, TimeProvider.System) is { } certificate ? [certificate] : []);
        foreach (var (what, address) in options.Urls.Select(static url => ("public", url)).Concat(options.OperationsUrls.Select(static url => ("operations", url))))
        {
            found.Add(await PortCheck.LookAsync(what, address, DataFolder.FindHolder(options.Data) is not null, cancellationToken));
        }

        found.AddRange(await new ProviderCheck(
            app.Services.GetServices<ProviderGauges>(), app.Services.GetRequiredService<ProviderTrust>(), TimeProvider.System).LookAsync(cancellationToken));
        found.AddRange(await new AccountCheck(app.Services.GetServices<IPushChannel>(), TimeProvider.System).LookAsync(cancellationToken));
        found.AddRange(KeyCheck.Look(app.Configuration.GetSection("Pnh"), TimeProvider.System));
        foreach (var one in found.Select(static one => one with { Text = UrlPassword.Hide(one.Text) }))
        {
            await output.Out.WriteLineAsync(request.IsJson ? JsonSerializer.Serialize(one, DoctorJson.Default.Finding) : $"{Word(one.Grade),-5} {one.What,-14} {one.Text}");
        }

        return found.Exists(static one => one.Grade == Grade.Bad) ? 1 : 0;
    }

    private static Finding Files(PnhOptions options)
    {
        var (limit, wanted) = (OpenFiles.Limit(), options.Sockets.MaxConnections);
        if (DescriptorPlan.FindProblem(limit) is { } problem)
        {
            return new Finding(Grade.Bad, "open files", problem);
        }

        var sockets = DescriptorPlan.SocketsOf(DescriptorPlan.Make(limit, OpenAtStart).Public);
        return sockets >= wanted ? new Finding(Grade.Good, "open files", FormattableString.Invariant($"{limit} at most"))
            : new Finding(
                options.IsMaxConnectionsSet ? Grade.Bad : Grade.Doubtful,
                "open files",
                FormattableString.Invariant($"{limit} at most, each socket is one: room for {sockets} of the {wanted} that Pnh:Sockets:MaxConnections has; raise the limit ({DescriptorException.HowToRaise})"));
    }

    private static string Word(Grade grade) => grade switch { Grade.Good => "ok", Grade.Doubtful => "look", _ => "bad" };
}

/// <summary>The same for a program.</summary>
[JsonSourceGenerationOptions(PropertyNamingPolicy = JsonKnownNamingPolicy.CamelCase, UseStringEnumConverter = true)]
[JsonSerializable(typeof(Finding))]
internal sealed partial class DoctorJson : JsonSerializerContext;
