using System.Net.Sockets;
using System.Runtime;
using Pnh.Api.Access;
using Pnh.Api.Commands;
using Pnh.Api.Configuration;
using Pnh.Api.FirstStart;
using Pnh.Api.Listeners;
using Pnh.Channels;
using Pnh.Core.Diagnostics;
using Pnh.Core.Stores;
using Pnh.LoadTest;
using Pnh.Sandbox;
using Pnh.Sandbox.Contract;
using Pnh.Storage.Files;

namespace Pnh.Api.Hosting;

/// <summary>What the commands do: every expected failure is one line and an exit code.</summary>
internal static class HubCommands
{
    private const int FailedExitCode = 1;

    // What this hub held alone is another hub's.
    private const int LostExitCode = 3;

    /// <summary>The commands, writing to <paramref name="output"/>.</summary>
    public static CommandActions Create(CommandOutput output) => new(
        (request, cancellationToken) => ServeAsync(request, output, cancellationToken),
        (configuration, cancellationToken) => SandboxAsync(configuration, output, cancellationToken),
        MakeToken,
        OperationsCommands.AddKeyAsync,
        OperationsCommands.ListKeysAsync,
        OperationsCommands.RevokeKeyAsync,
        OperationsCommands.AddressesAsync,
        OperationsCommands.CreateConsoleLinkAsync,
        OperationsCommands.ShowClusterAsync,
        TeeRun.RunAsync,
        ConfigCommands.CheckAsync,
        ConfigCommands.ShowAsync,
        PublisherCommands.SendAsync,
        PublisherCommands.ShowEventAsync,
        PublisherCommands.ShowUserAsync,
        DoctorCommands.RunAsync,
        BackupCommands.BackUpAsync,
        BackupCommands.RestoreAsync,
        PublisherCommands.TailAsync,
        BenchAsync);

    private static async Task<int> ServeAsync(ServeRequest request, CommandOutput output, CancellationToken cancellationToken)
    {
        // Workstation GC would halve the Q-factor under load; with one processor the runtime has no server GC to offer.
        if (!GCSettings.IsServerGC && Environment.ProcessorCount > 1)
        {
            return Fail(output, "server GC is off; remove DOTNET_gcServer=0 from the environment");
        }

        if (DescriptorPlan.FindProblem(OpenFiles.Limit()) is { } problem)
        {
            return Fail(output, problem);
        }

        var errors = new ConfigurationErrors();
        try
        {
            var run = request.Role == Role.Edge ? RunEdgeAsync(request, errors, output, cancellationToken) : RunHubAsync(request, errors, output, cancellationToken);
            if (await run is { } exitCode)
            {
                return exitCode;
            }

            errors.WriteTo(output.Error);
            return ConfigurationErrors.ExitCode;
        }
        catch (DataFolderException fault)
        {
            return Fail(output, fault.Message);
        }
        catch (StoreUnavailableException fault)
        {
            // While it starts: a running hub answers with it.
            return Fail(output, fault.Message);
        }
        catch (DescriptorException fault)
        {
            return Fail(output, fault.Message);
        }
        catch (CertificateException fault)
        {
            return Fail(output, fault.Message);
        }
        catch (SandboxException fault)
        {
            return Fail(output, $"{fault.Message.TrimEnd('.')} (keys Pnh:SandboxPorts:Apns and Pnh:SandboxPorts:Fcm, 0 = any free port; Pnh:Sandbox=false for none)");
        }
        catch (Exception fault) when (fault is IOException or SocketException)
        {
            return Fail(output, $"a listener cannot be opened: {fault.Message.TrimEnd('.')}; stop the program that holds the port, or give addresses of this machine with --Pnh:Urls=… and --Pnh:OperationsUrls=…");
        }
    }

    /// <summary>The exit code; null when the configuration has errors.</summary>
    private static async Task<int?> RunHubAsync(ServeRequest request, ConfigurationErrors errors, CommandOutput output, CancellationToken cancellationToken)
    {
        await using var host = await HubHost.BuildAsync(request.Role, request.Configuration, errors, null, cancellationToken);
        if (host is null)
        {
            return null;
        }

        if (await TryStartAsync(host.StartAsync, () => host.IsStopping, output, cancellationToken))
        {
            var link = output.IsTerminal || IsOnlyForThisMachine(host.Start.Options) ? host.CreateConsoleLink() : null;
            Welcome.Write(output.Out, host.PublicAddress, host.OperationsAddress, link, host.Start.DemoKey, host.Start.Sandbox is not null);
            await host.WaitForShutdownAsync(cancellationToken);
        }

        return host.Start.Folder.Incarnation.IsLost ? LostExitCode : 0;
    }

    /// <summary>The exit code; null when the configuration has errors.</summary>
    private static async Task<int?> RunEdgeAsync(ServeRequest request, ConfigurationErrors errors, CommandOutput output, CancellationToken cancellationToken)
    {
        await using var edge = EdgeHost.Build(request.Configuration, errors);
        if (edge is null)
        {
            return null;
        }

        if (await TryStartAsync(edge.StartAsync, () => edge.IsStopping, output, cancellationToken))
        {
            Welcome.WriteEdge(output.Out, edge.PublicAddress);
            await edge.WaitForShutdownAsync(cancellationToken);
        }

        return 0;
    }

    /// <summary>False when the program was told to stop meanwhile, by a signal that its host heard or by the caller: reading a large journal takes a while.</summary>
    private static async Task<bool> TryStartAsync(
        Func<CancellationToken, Task> startAsync, Func<bool> isStopping, CommandOutput output, CancellationToken cancellationToken)
    {
        try
        {
            await startAsync(cancellationToken);
            return true;
        }
        catch (OperationCanceledException) when (cancellationToken.IsCancellationRequested || isStopping())
        {
            await output.Error.WriteLineAsync("pnh: told to stop while it started");
            return false;
        }
    }

    /// <summary>
    /// Whether a link may stand in what is kept. More people read a log than may sign in; but who reaches a loopback address is on this machine already,
    /// unless a proxy is in front of it: names of the console's own are given for that.
    /// </summary>
    private static bool IsOnlyForThisMachine(PnhOptions options) =>
        options.Console.HostNames.Length == 0 && options.OperationsUrls.All(static url => url.IsLoopback);

    private static async Task<int> SandboxAsync(string[] tokens, CommandOutput output, CancellationToken cancellationToken)
    {
        if (Read(tokens, output) is not { } options)
        {
            return ConfigurationErrors.ExitCode;
        }

        return await SandboxProgram.RunAsync(HubStart.SandboxSettings(options), output.Out, cancellationToken);
    }

    private static async Task<int> MakeToken(TokenRequest request, CommandOutput output)
    {
        if (Read(request.Configuration, output) is not { } options)
        {
            return ConfigurationErrors.ExitCode;
        }

        if (!options.Apps.ContainsKey(request.App))
        {
            return Fail(output, $"no app '{request.App}' is configured, and no demo was started on {options.Data}; give the hub's own configuration, like --Pnh:Data=…");
        }

        try
        {
            await output.Out.WriteLineAsync(new ClientTokens(options.Apps.Values, TimeProvider.System).Create(request.App, request.User, request.Device, request.Lifetime, request.Topics));
            return 0;
        }
        catch (InvalidOperationException refusal)
        {
            return Fail(output, refusal.Message);
        }
    }

    private static async Task<int> BenchAsync(BenchRequest request, CommandOutput output)
    {
        if (Read(request.Configuration, output) is not { } options)
        {
            return ConfigurationErrors.ExitCode;
        }

        var target = BenchTarget.Of(options, request.Arguments);
        return BenchTarget.FindProblem(target, request.Arguments) is { } problem
            ? Fail(output, problem)
            : await LoadTester.RunAsync(request.Arguments, target, output.Out, output.Error);
    }

    /// <summary>The configuration of a command that runs beside a hub; the demo's token secret is taken from the data folder.</summary>
    internal static PnhOptions? Read(string[] tokens, CommandOutput output)
    {
        var (builder, knownKeys, read) = ReadHub(tokens);
        if (read.Errors.None && read.Options.IsDemo && DemoApp.TokenConfiguration(read.Options.Data) is { } demo)
        {
            builder.Configuration.AddInMemoryCollection(demo);
            read = PnhConfiguration.Read(builder.Configuration, knownKeys, Environment.CurrentDirectory);
        }

        read.Errors.WriteTo(output.Error);
        return read.Errors.None ? read.Options : null;
    }

    /// <summary>The configuration of a hub as a start reads it, with the channels that are there.</summary>
    internal static (WebApplicationBuilder Builder, KnownKeys KnownKeys, ConfigurationResult Read) ReadHub(string[] tokens)
    {
        var builder = HubBuilder.Create(tokens);
        builder.Services.AddPushChannels(builder.Configuration.GetSection(PnhOptions.SectionName));
        var knownKeys = HubHost.KnownKeysOf(builder.Services);
        return (builder, knownKeys, PnhConfiguration.Read(builder.Configuration, knownKeys, Environment.CurrentDirectory));
    }

    /// <summary>One line of complaint, and the exit code.</summary>
    internal static int Fail(CommandOutput output, string line)
    {
        output.Error.WriteLine($"pnh: {line}");
        return FailedExitCode;
    }
}
