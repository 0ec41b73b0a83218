using System.Text.Json;
using System.Text.Json.Serialization;
using Pnh.Api.Commands;
using Pnh.Api.Configuration;
using Pnh.Api.Doctor;
using Pnh.Api.Listeners;
using Pnh.Channels.Provider.Connections;
using Pnh.Core.Diagnostics;

namespace Pnh.Api.Hosting;

/// <summary><c>doctor</c>: one line for each thing that a hub needs. Starts nothing, and writes one file that it removes.</summary>
internal static class DoctorCommands
{
    private const int FewFiles = 10_000;

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
        found.Add(Files());
        foreach (var (what, address) in options.Urls.Select(static url => ("public", url)).Concat(options.OperationsUrls.Select(static url => ("operations", url))))
        {
            found.Add(await PortCheck.LookAsync(what, address, cancellationToken));
        }

        found.AddRange(await new ProviderCheck(
            app.Services.GetServices<ProviderGauges>(), app.Services.GetRequiredService<ProviderTrust>(), TimeProvider.System).LookAsync(cancellationToken));
        found.AddRange(KeyCheck.Look(app.Configuration.GetSection("Pnh"), TimeProvider.System));
        foreach (var one in found)
        {
            await output.Out.WriteLineAsync(request.IsJson ? JsonSerializer.Serialize(one, DoctorJson.Default.Finding) : $"{Word(one.Grade),-5} {one.What,-14} {one.Text}");
        }

        return found.Exists(static one => one.Grade == Grade.Bad) ? 1 : 0;
    }

    private static Finding Files()
    {
        var limit = OpenFiles.Limit();
        return DescriptorPlan.FindProblem(limit) is { } problem ? new Finding(Grade.Bad, "open files", problem)
            : new Finding(
                limit < FewFiles ? Grade.Doubtful : Grade.Good,
                "open files",
                FormattableString.Invariant($"{limit} at most{(limit < FewFiles ? ", each socket is one: raise it with ulimit -n, or LimitNOFILE in a unit of systemd" : "")}"));
    }

    private static string Word(Grade grade) => grade switch { Grade.Good => "ok", Grade.Doubtful => "look", _ => "bad" };
}

/// <summary>The same for a program.</summary>
[JsonSourceGenerationOptions(PropertyNamingPolicy = JsonKnownNamingPolicy.CamelCase, UseStringEnumConverter = true)]
[JsonSerializable(typeof(Finding))]
internal sealed partial class DoctorJson : JsonSerializerContext;
