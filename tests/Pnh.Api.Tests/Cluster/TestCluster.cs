using Microsoft.AspNetCore.Connections;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;
using Pnh.Api.Commands;
using Pnh.Api.Configuration;
using Pnh.Api.Hosting;
using Pnh.Api.Tests.EndToEnd;

namespace Pnh.Api.Tests.Cluster;

/// <summary>A hub and its edges: real nodes, in one process.</summary>
internal sealed class TestCluster : IAsyncDisposable
{
    internal const string ClusterKey = "0123456789abcdef0123456789abcdef-cluster";
    private const string Secret = "an HS256 secret of thirty-two bytes and more";
    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(30);
    private readonly List<EdgeHost> _edges = [];
    private readonly string _files = Directory.CreateTempSubdirectory("pnh-cluster-").FullName;

    private TestCluster()
    {
    }

    internal TestHub Hub { get; private set; } = null!;

    internal string Data => Path.Combine(_files, "data");

    internal static async Task<TestCluster> StartAsync(Role role = Role.Hub, params string[] configuration)
    {
        var cluster = new TestCluster();
        await cluster.StartHubAsync(role, 0, configuration);
        return cluster;
    }

    /// <summary>The hub; on the port that it had before, when it was there before.</summary>
    internal async Task StartHubAsync(Role role = Role.Hub, int port = 0, params string[] configuration)
    {
        for (var tries = 0; ; tries++)
        {
            try
            {
                Hub = await StartOnAsync(role, port, configuration);
                return;
            }
            catch (IOException fault) when (fault.InnerException is AddressInUseException && port != 0 && tries < 50)
            {
                await Task.Delay(100); // a connection of this machine may have the port meanwhile
            }
        }
    }

    private Task<TestHub> StartOnAsync(Role role, int port, string[] configuration) => TestHub.StartAsync(Data, null, null,
    [
        $"--Pnh:Cluster:Urls=http://127.0.0.1:{port}", $"--Pnh:Cluster:KeyFile={KeyFile(ClusterKey)}",
        $"--Pnh:Apps:demo:Keys:0:Secret={TestHub.ConfiguredKey}", "--Pnh:Apps:demo:Keys:0:Scopes=send register read admin", $"--Pnh:Apps:demo:Tokens:Hs256Secret={Secret}",
        "--Pnh:Apps:demo:ClientSend=true",
        .. configuration,
    ], role: role);

    /// <summary>An edge of the hub, or of another server at that address; linked, unless the caller does not wait.</summary>
    internal async Task<EdgeHost> StartEdgeAsync(string node = "edge-1", Uri? hub = null, string? key = null, bool waits = true, params string[] configuration)
    {
        var errors = new ConfigurationErrors();
        var edge = EdgeHost.Build(
        [
            "--Pnh:Urls=http://127.0.0.1:0", "--Pnh:OperationsUrls=http://127.0.0.1:0", $"--Pnh:Node={node}", $"--Pnh:Hubs={hub ?? Hub.Host.ClusterAddress}",
            $"--Pnh:Cluster:KeyFile={KeyFile(key ?? ClusterKey)}", $"--Pnh:Apps:demo:Tokens:Hs256Secret={Secret}",
            .. configuration,
        ], errors, TestHub.Quiet);
        Assert.True(edge is not null, string.Join(' ', errors.All));
        _edges.Add(edge);
        await edge.StartAsync(CancellationToken.None);
        if (waits)
        {
            await UntilReadyAsync(edge, true);
        }

        return edge;
    }

    internal async Task StopEdgeAsync(EdgeHost edge)
    {
        _edges.Remove(edge);
        await edge.DisposeAsync();
    }

    /// <summary>Told to stop, as by SIGTERM; completes when it has.</summary>
    internal static async Task StopAsync(EdgeHost edge)
    {
        edge.Services.GetRequiredService<IHostApplicationLifetime>().StopApplication();
        await edge.WaitForShutdownAsync(CancellationToken.None).WaitAsync(Patience);
    }

    internal static async Task UntilReadyAsync(EdgeHost edge, bool isReady)
    {
        using var patience = new CancellationTokenSource(Patience);
        while (await GetAsync(new Uri(edge.PublicAddress, "/readyz"), null) == 200 != isReady)
        {
            await Task.Delay(20, patience.Token);
        }
    }

    /// <summary>The status of a GET.</summary>
    internal static async Task<int> GetAsync(Uri address, string? credential)
    {
        using var http = new HttpMessageInvoker(new SocketsHttpHandler { UseProxy = false });
        using var request = new HttpRequestMessage(HttpMethod.Get, address);
        request.Headers.Authorization = credential is null ? null : new("Bearer", credential);
        using var answer = await http.SendAsync(request, CancellationToken.None);
        return (int)answer.StatusCode;
    }

    /// <summary>The body of a GET.</summary>
    internal static async Task<string> ReadAsync(Uri address)
    {
        using var http = new HttpMessageInvoker(new SocketsHttpHandler { UseProxy = false });
        using var request = new HttpRequestMessage(HttpMethod.Get, address);
        using var answer = await http.SendAsync(request, CancellationToken.None);
        return await answer.Content.ReadAsStringAsync();
    }

    /// <summary>Asks until the answer is right.</summary>
    internal static async Task UntilAsync(Func<Task<bool>> holds)
    {
        using var patience = new CancellationTokenSource(Patience);
        while (!await holds())
        {
            await Task.Delay(20, patience.Token);
        }
    }

    internal string KeyFile(params string[] lines)
    {
        var file = Path.Combine(_files, $"{Guid.NewGuid():N}.key");
        File.WriteAllLines(file, lines);
        return file;
    }

    public async ValueTask DisposeAsync()
    {
        foreach (var edge in _edges)
        {
            await edge.DisposeAsync();
        }

        await Hub.DisposeAsync();
        Directory.Delete(_files, recursive: true);
    }
}
