using Pnh.Api.Commands;
using Pnh.Api.Configuration;
using Pnh.Api.FirstStart;
using Pnh.Channels.Net.Http2;
using Pnh.Core.Timing;
using Pnh.Sandbox;
using Pnh.Sandbox.Contract;
using Pnh.Storage.Files;

namespace Pnh.Api.Hosting;

/// <summary>
/// What must be settled before the hub can be built: options, the data folder, the sandbox, the operator's secret. Errors of the configuration are
/// values; a folder or port that cannot be had throws <see cref="DataFolderException"/> or <see cref="SandboxException"/>, whose message is one line.
/// </summary>
internal sealed class HubStart : IAsyncDisposable
{
    private HubStart(Role role, PnhOptions options, DataFolder folder)
    {
        Role = role;
        Options = options;
        Folder = folder;
        Clock = new FolderClock(folder.FolderPath, new BootTime());
        try
        {
            OperatorSecret = Access.OperatorSecret.ReadOrCreate(folder.FolderPath);
        }
        catch (Exception exception) when (exception is IOException or UnauthorizedAccessException)
        {
            folder.Dispose();
            throw DataFolder.Unusable(Path.Combine(folder.FolderPath, Access.OperatorSecret.FileName), exception);
        }
    }

    /// <summary>All, or hub.</summary>
    public Role Role { get; }

    /// <summary>The checked configuration, the demo app included.</summary>
    public PnhOptions Options { get; private set; }

    /// <summary>Held until the end.</summary>
    public DataFolder Folder { get; }

    /// <summary>The hub's clock.</summary>
    public FolderClock Clock { get; }

    /// <summary>Lets the commands on this machine talk to the hub.</summary>
    public string OperatorSecret { get; }

    /// <summary>The stand-ins; null when they do not run.</summary>
    public SandboxServer? Sandbox { get; private set; }

    /// <summary>The demo's publisher key; null when apps are configured.</summary>
    public string? DemoKey { get; private set; }

    /// <summary>Reads the configuration and takes hold of everything. Null when the configuration has errors, which are in <paramref name="errors"/>.</summary>
    public static async Task<HubStart?> PrepareAsync(
        Role role, IConfigurationManager configuration, KnownKeys knownKeys, string workingFolder, ConfigurationErrors errors, CancellationToken cancellationToken)
    {
        var read = PnhConfiguration.Read(configuration, knownKeys, workingFolder);
        if (!read.Errors.None)
        {
            errors.AddAll(read.Errors);
            return null;
        }

        RefuseWhatIsNotThere(role, read.Options, errors);
        if (!errors.None)
        {
            return null;
        }

        if (read.Options.LanesTransport.DirectPercent > 0)
        {
            InlineCompletions.Enable();
        }

        var start = new HubStart(role, read.Options, DataFolder.Open(read.Options.Data));
        try
        {
            await Task.Delay(start.Folder.Incarnation.Wait, cancellationToken);
            await start.PrepareSandboxAsync(cancellationToken);
            if (start.Options.IsFirstStart)
            {
                start.AddDemo(configuration, knownKeys, workingFolder, errors);
            }

            return start;
        }
        catch
        {
            await start.DisposeAsync();
            throw;
        }
    }

    public async ValueTask DisposeAsync()
    {
        if (Sandbox is not null)
        {
            await Sandbox.DisposeAsync();
        }

        Folder.Dispose();
    }

    /// <summary>Values of the contract that this version cannot keep: refused, never ignored.</summary>
    /// <summary>What a configuration may say and this build does not have.</summary>
    internal static void RefuseWhatIsNotThere(Role role, PnhOptions options, ConfigurationErrors errors)
    {
        if (options.Store != StoreEngine.Sqlite)
        {
            errors.Add("Pnh:Store", "postgres is not available yet; use sqlite");
        }

        if (role == Role.Hub && options.Cluster.Urls.Count == 0)
        {
            errors.Add("Pnh:Cluster:Urls", "is missing; a node of role hub holds no sockets itself, so it needs an address at which edges reach it");
        }
    }

    private async Task PrepareSandboxAsync(CancellationToken cancellationToken)
    {
        if (Options.Sandbox ?? Options.IsFirstStart)
        {
            Sandbox = await SandboxServer.StartAsync(SandboxSettings(Options), cancellationToken);
        }
    }

    private void AddDemo(IConfigurationManager configuration, KnownKeys knownKeys, string workingFolder, ConfigurationErrors errors)
    {
        DemoKey = DemoApp.Key(Folder);
        configuration.AddInMemoryCollection(DemoApp.Configuration(Folder, Sandbox));
        var read = PnhConfiguration.Read(configuration, knownKeys, workingFolder);
        errors.AddAll(read.Errors);
        Options = read.Options;
    }

    /// <summary>The sandbox of these options, for the hub and for <c>pnh sandbox</c>.</summary>
    public static SandboxOptions SandboxSettings(PnhOptions options) => new()
    {
        Folder = Path.Combine(options.Data, "sandbox"),
        ApnsPort = options.SandboxPorts.Apns,
        FcmPort = options.SandboxPorts.Fcm,
    };
}
