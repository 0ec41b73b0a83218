using System.Collections.Concurrent;
using System.Text.Json;
using Microsoft.Extensions.DependencyInjection;
using Pnh.Api.Commands;
using Pnh.Api.Configuration;
using Pnh.Api.Hosting;
using Pnh.Api.Operations;
using Pnh.Api.Tests.EndToEnd;
using Pnh.Channels.Links;
using Pnh.Channels.Links.Protocol;

namespace Pnh.Api.Tests.Cluster;

/// <summary>What an operator sees of a cluster: <c>pnh cluster</c>.</summary>
public sealed class ClusterTests
{
    [Fact]
    public async Task Cluster_HubAndEdges_SaysWhatEachHoldsAndWhatTheyComeTo()
    {
        await using var cluster = await TestCluster.StartAsync(Role.All);
        var (one, two) = (await cluster.StartEdgeAsync("edge-1"), await cluster.StartEdgeAsync("edge-2", configuration: ["--Pnh:Sockets:DrainWindow=00:00:00"]));
        using var first = await cluster.Hub.ConnectAsync("ada", "tab-1", at: one.PublicAddress);
        using var second = await cluster.Hub.ConnectAsync("bob", "tab-1", at: two.PublicAddress);
        using var third = await cluster.Hub.ConnectAsync("eve", "tab-1", "background", at: two.PublicAddress);
        using var here = await cluster.Hub.ConnectAsync("kim", "tab-1");
        var said = await UntilAsync(cluster.Hub, static said => said.All is { Sessions: 4, ActiveSessions: 3 });

        Assert.Equal([("all", 4, 1L), ("edge", 2, 1L), ("edge", 2, 2L)], said.Nodes.Select(static node => (node.Role, node.Links, node.Sessions ?? -1)));
        Assert.Equal(["edge-1", "edge-2"], said.Nodes.Skip(1).Select(static node => node.Name));
        Assert.All(said.Nodes, static node => Assert.Equal(ProgramVersion.Text, node.Version));
        Assert.All(said.Nodes, static node => Assert.True(node is { CpuSeconds: > 0, MemoryBytes: > 1_000_000 }));
        Assert.Equal((3, said.Nodes[0].Served), (said.All.Nodes, said.All.Served));
        Assert.Equal(said.Nodes.Sum(static node => node.MemoryBytes), said.All.MemoryBytes);

        await TestCluster.StopAsync(two);
        said = await UntilAsync(cluster.Hub, static said => said.All.Nodes == 2);
        Assert.Equal((0, null, null), (said.Nodes[2].Links, said.Nodes[2].Sessions, said.Nodes[2].Cores));
    }

    [Fact]
    public async Task Cluster_HubWithoutLinks_IsOneNode()
    {
        await using var hub = await TestHub.StartAsync();
        var said = await ReadAsync(hub);
        Assert.Equal(("all", 0, 1), (Assert.Single(said.Nodes).Role, said.Nodes[0].Links, said.All.Nodes));
    }

    [Fact]
    public async Task Cluster_WithoutTheOperatorsSecret_IsRefused()
    {
        await using var hub = await TestHub.StartAsync();
        Assert.Equal(401, (await hub.SendAsync("GET", ClusterEndpoint.Path, operations: true)).Status);
        Assert.Equal(404, (await hub.SendAsync("GET", ClusterEndpoint.Path)).Status);
    }

    [Fact]
    public async Task Tee_EventsThatTheHubAccepts_AreCopiedWhateverTheirWay()
    {
        await using var cluster = await TestCluster.StartAsync();
        var edge = await cluster.StartEdgeAsync();
        using var ada = await cluster.Hub.ConnectAsync("ada", "tab-1", at: edge.PublicAddress);
        using var stop = new CancellationTokenSource();
        var copies = new ConcurrentQueue<string>();
        var address = new UriBuilder(cluster.Hub.Host.ClusterAddress) { Scheme = "ws", Path = ClusterOptions.TeePath }.Uri;
        var self = LinkHello.Of("tee", "", ["demo"], "", TimeProvider.System);
        var running = new TeeClient([address], TestCluster.ClusterKey, self, copy => copies.Enqueue(TeeRun.Line(copy)), static _ => { }, TimeProvider.System).RunAsync(stop.Token);
        await TestCluster.UntilAsync(() => Task.FromResult(cluster.Hub.Host.Services.GetRequiredService<TeeServer>().Count == 1));

        await cluster.Hub.SendAsync("POST", "/v1/events", "{\"id\":\"one\",\n \"to\":{\"user\":\"ada\"},\"data\":1}");
        await cluster.Hub.SendAsync("POST", "/v1/events", "{\"id\":\"one\",\n \"to\":{\"user\":\"ada\"},\"data\":1}"); // a duplicate
        await cluster.Hub.SendAsync("POST", "/v1/events", "{\"id\":\"bad\"}");
        await cluster.Hub.SendAsync("POST", "/v1/events", "{\"id\":\"two\",\"to\":{\"user\":\"ada\"},\"data\":2}\n{\"id\":\"three\",\"to\":{\"user\":\"bob\"},\"data\":3}\n", "application/x-ndjson");
        await ada.SendAsync("{\"type\":\"send\",\"to\":{\"user\":\"ada\"},\"class\":\"transient\",\"data\":\"typing\"}");
        await TestCluster.UntilAsync(() => Task.FromResult(copies.Count >= 4));
        await stop.CancelAsync();
        await running;

        Assert.Equal(4, copies.Count);
        var lines = copies.Select(static line => JsonDocument.Parse(line).RootElement).ToList();
        Assert.Equal(["\"typing\"", "1", "2", "3"], lines.Select(static line => line.GetProperty("event").GetProperty("data").GetRawText()).Order(StringComparer.Ordinal));
        Assert.All(lines, static line => Assert.Equal("demo", line.GetProperty("app").GetString()));
        Assert.All(copies, static line => Assert.DoesNotContain('\n', line));
    }

    /// <summary>Requests are the hub's: what edges write for them are no further ones, but their CPU time counts.</summary>
    [Fact]
    public void Lines_HubAndEdges_AreATableWithASum()
    {
        var cluster = new ClusterBody(
            [
                new("hub-0", "hub", "1.2.3", 2, 0, 0, 10_000, 40, 0.5, 104_857_600, 2000),
                new("edge-0", "edge", "1.2.3", 2, 1500, 1200, 9_000, 20, 0.25, 52_428_800, 3600),
                new("edge-1", "edge", "", 0, null, null, null, null, null, null, null),
            ],
            new(2, 1500, 1200, 10_000, 60, 0.75, 157_286_400, 1333.3));

        Assert.Equal(
            [
                "NODE     ROLE  VERSION  LINKS  SESSIONS  ACTIVE  SERVED     CPU   MEMORY  Q-FACTOR",
                "hub-0    hub   1.2.3        2         0       0   10000  50.0 %  100 MiB      2000",
                "edge-0   edge  1.2.3        2      1500    1200    9000  25.0 %   50 MiB      3600",
                "edge-1   edge  -         gone         -       -       -       -        -         -",
                "2 nodes                            1500    1200   10000  75.0 %  150 MiB      1333",
            ],
            ClusterTable.Lines(cluster));
    }

    private static async Task<ClusterBody> ReadAsync(TestHub hub)
    {
        var client = new OperationsClient(hub.Host.OperationsAddress, hub.Host.Start.Folder.FolderPath);
        var (answer, failure) = await client.AskAsync(HttpMethod.Get, ClusterEndpoint.Path, body: null, OperationsJson.Default.ClusterBody, CancellationToken.None);
        Assert.Null(failure);
        return answer!;
    }

    private static async Task<ClusterBody> UntilAsync(TestHub hub, Func<ClusterBody, bool> holds)
    {
        ClusterBody? said = null;
        await TestCluster.UntilAsync(async () => holds(said = await ReadAsync(hub)));
        return said!;
    }
}
