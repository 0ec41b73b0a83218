using System.Globalization;
using Microsoft.Extensions.DependencyInjection;
using Pnh.Api.Access;
using Pnh.Api.Commands;
using Pnh.Api.Configuration;
using Pnh.Api.Hosting;
using Pnh.Api.Tests.EndToEnd;

namespace Pnh.Api.Tests.Cluster;

/// <summary>What a client and a publisher can do when the socket is on an edge and the hub is another node.</summary>
public sealed class EdgeTests
{
    private const string Message = """{"id":"m-1","to":{"user":"ada"},"data":{"n":1}}""";

    [Theory]
    [InlineData("Direct")]
    [InlineData("Framework")]
    public async Task Post_SocketAtAnEdge_ArrivesAndTheAckSettlesIt(string transport)
    {
        await using var cluster = await TestCluster.StartAsync();
        var edge = await cluster.StartEdgeAsync(configuration: $"--Pnh:Sockets:Transport={transport}");
        using var tab = await cluster.Hub.ConnectAsync("ada", "tab-1", at: edge.PublicAddress);

        Assert.Equal(202, (await cluster.Hub.SendAsync("POST", "/v1/events", Message)).Status);

        Assert.Equal("m-1", (await tab.ReceiveEventAsync()).GetProperty("id").GetString());
        await UntilTimelineAsync(cluster.Hub, "m-1", "acked");
    }

    [Fact]
    public async Task Post_TwoEdgesAndThisNode_ReachesEverySessionOfTheUser()
    {
        await using var cluster = await TestCluster.StartAsync(Role.All);
        var (one, two) = (await cluster.StartEdgeAsync("edge-1"), await cluster.StartEdgeAsync("edge-2"));
        using var first = await cluster.Hub.ConnectAsync("ada", "tab-1", at: one.PublicAddress);
        using var second = await cluster.Hub.ConnectAsync("ada", "tab-2", at: two.PublicAddress);
        using var here = await cluster.Hub.ConnectAsync("ada", "tab-3");

        for (var i = 0; i < 50; i++)
        {
            Assert.Equal(202, (await cluster.Hub.SendAsync("POST", "/v1/events", $$"""{"id":"e-{{i}}","to":{"user":"ada"},"data":{{i}}}""")).Status);
        }

        foreach (var socket in (TestSocket[])[first, second, here])
        {
            for (var i = 0; i < 50; i++)
            {
                Assert.Equal($"e-{i}", (await socket.ReceiveEventAsync()).GetProperty("id").GetString());
            }
        }
    }

    [Fact]
    public async Task Session_AtAnEdge_PublishesIsSeenAndKicked()
    {
        await using var cluster = await TestCluster.StartAsync();
        var edge = await cluster.StartEdgeAsync();
        using var ada = await cluster.Hub.ConnectAsync("ada", "tab-1", at: edge.PublicAddress);
        using var other = await cluster.Hub.ConnectAsync("ada", "tab-2", at: edge.PublicAddress);

        await ada.SendAsync("""{"type":"send","to":{"user":"ada"},"class":"transient","data":"typing"}""");
        Assert.Equal("typing", (await ada.ReceiveAsync()).GetProperty("data").GetString());
        Assert.Equal("typing", (await other.ReceiveAsync()).GetProperty("data").GetString());
        await ada.SendAsync("""{"type":"send","to":{"user":"bob"},"class":"transient","data":"typing"}""");
        Assert.Equal("not-allowed", (await ada.ReceiveAsync()).GetProperty("code").GetString());

        var presence = (await cluster.Hub.SendAsync("GET", "/v1/users/ada/presence")).Json;
        Assert.True(presence.GetProperty("active").GetBoolean());
        await ada.SendAsync("""{"type":"state","state":"background"}""");
        await other.SendAsync("""{"type":"state","state":"background"}""");
        await TestCluster.UntilAsync(async () => !(await cluster.Hub.SendAsync("GET", "/v1/users/ada/presence")).Json.GetProperty("active").GetBoolean());

        Assert.Equal(2, (await cluster.Hub.SendAsync("DELETE", "/v1/users/ada/sessions")).Json.GetProperty("closed").GetInt32());
        Assert.Equal("closed", (await ada.ReceiveAsync()).GetProperty("type").GetString());
        Assert.Equal(4503, (int)ada.CloseStatus!);
        await TestCluster.UntilAsync(async () => !(await cluster.Hub.SendAsync("GET", "/v1/users/ada/presence")).Json.GetProperty("online").GetBoolean());
    }

    [Fact]
    public async Task Post_ExceptASessionAndWithATrace_HoldsAtAnEdge()
    {
        const string Trace = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
        await using var cluster = await TestCluster.StartAsync();
        var edge = await cluster.StartEdgeAsync();
        using var author = await TestSocket.OpenAsync(edge.PublicAddress);
        var session = await HelloAsync(author, cluster.Hub.ClientToken("ada"));
        using var reader = await cluster.Hub.ConnectAsync("ada", "tab-2", at: edge.PublicAddress);

        var body = $$$"""{"id":"m-1","to":{"user":"ada"},"except":{"sessions":["{{{session}}}"]},"data":1}""";
        Assert.Equal(202, (await cluster.Hub.SendAsync("POST", "/v1/events", body, traceParent: Trace)).Status);
        Assert.Equal(202, (await cluster.Hub.SendAsync("POST", "/v1/events", Message.Replace("m-1", "m-2", StringComparison.Ordinal))).Status);

        Assert.Equal("m-2", (await author.ReceiveEventAsync()).GetProperty("id").GetString());
        var frame = await reader.ReceiveEventAsync();
        Assert.Equal(("m-1", Trace), (frame.GetProperty("id").GetString(), frame.GetProperty("traceparent").GetString()));
    }

    [Fact]
    public async Task Withdraw_SocketAtAnEdge_IsTakenBackThere()
    {
        await using var cluster = await TestCluster.StartAsync();
        var edge = await cluster.StartEdgeAsync();
        using var tab = await cluster.Hub.ConnectAsync("ada", "tab-1", at: edge.PublicAddress);
        await cluster.Hub.SendAsync("POST", "/v1/events", Message);
        await tab.ReceiveEventAsync(ack: false);

        Assert.Equal(200, (await cluster.Hub.SendAsync("POST", "/v1/events/m-1/withdraw")).Status);

        var frame = await tab.ReceiveAsync();
        Assert.Equal(("withdraw", "m-1"), (frame.GetProperty("type").GetString(), frame.GetProperty("id").GetString()));
    }

    [Theory]
    [InlineData("Direct")]
    [InlineData("Framework")]
    public async Task Socket_AtANodeOfRoleHub_IsToldSo(string transport)
    {
        await using var cluster = await TestCluster.StartAsync(Role.Hub, $"--Pnh:Sockets:Transport={transport}");

        var answer = await cluster.Hub.SendAsync("GET", "/v1/socket", credential: "");

        Assert.Equal((404, "no-sockets-here"), (answer.Status, answer.Code));
        await Assert.ThrowsAsync<System.Net.WebSockets.WebSocketException>(() => TestSocket.OpenAsync(cluster.Hub.Host.PublicAddress));
    }

    [Theory]
    [InlineData("Direct")]
    [InlineData("Framework")]
    public async Task Post_AtAnEdge_IsNotThere(string transport)
    {
        await using var cluster = await TestCluster.StartAsync();
        var edge = await cluster.StartEdgeAsync(configuration: $"--Pnh:Sockets:Transport={transport}");
        foreach (var path in (string[])["/v1/events", "/v1/users/ada", "/metrics", "/console"])
        {
            Assert.Equal(404, await TestCluster.GetAsync(new Uri(edge.PublicAddress, path), TestHub.ConfiguredKey));
        }

        Assert.Equal(200, await TestCluster.GetAsync(new Uri(edge.OperationsAddress, "/metrics"), null));
    }

    [Fact]
    public async Task Metrics_HubAndEdge_SayWhoIsLinkedAndWhoHoldsTheSessions()
    {
        await using var cluster = await TestCluster.StartAsync();
        var edge = await cluster.StartEdgeAsync("edge-1", configuration: ["--Pnh:Sockets:DrainWindow=00:00:00"]);
        Assert.Equal(401, await TestCluster.GetAsync(new Uri(cluster.Hub.Host.ClusterAddress, "/v1/link"), "not the key of this cluster, but as long"));
        using var socket = await TestSocket.OpenAsync(edge.PublicAddress);
        await HelloAsync(socket, cluster.Hub.ClientToken("ada"));
        await cluster.Hub.SendAsync("POST", "/v1/events", Message);
        await socket.ReceiveEventAsync();

        var hub = (await cluster.Hub.SendAsync("GET", "/metrics", operations: true)).Body;
        Assert.Contains("\npnh_links{node=\"edge-1\",state=\"linked\"} 2\n", hub, StringComparison.Ordinal);
        Assert.Contains("\npnh_link_refused_total{reason=\"wrong-key\"} 1\n", hub, StringComparison.Ordinal);
        Assert.Contains("\npnh_link_refused_total{reason=\"other-cluster\"} 0\n", hub, StringComparison.Ordinal);
        Assert.Contains("\npnh_link_dropped_total{node=\"edge-1\",reason=\"queue-full\"} 0\n", hub, StringComparison.Ordinal);
        Assert.Contains("\npnh_link_dropped_total{node=\"edge-1\",reason=\"over\"} 0\n", hub, StringComparison.Ordinal);
        Assert.Contains($"\npnh_nodes{{role=\"edge\",version=\"{ProgramVersion.Text}\"}} 1\n", hub, StringComparison.Ordinal);
        Assert.Contains($"\npnh_nodes{{role=\"hub\",version=\"{ProgramVersion.Text}\"}} 1\n", hub, StringComparison.Ordinal);
        Assert.Contains("\npnh_sessions{state=\"active\"} 0\n", hub, StringComparison.Ordinal); // one node exports each session
        Assert.Matches("\npnh_link_bytes_total\\{node=\"edge-1\",direction=\"in\"\\} [1-9]", hub);
        Assert.Matches("\npnh_link_bytes_total\\{node=\"edge-1\",direction=\"out\"\\} [1-9]", hub);
        var own = await TestCluster.ReadAsync(new Uri(edge.OperationsAddress, "/metrics"));
        Assert.Contains("\npnh_sessions{state=\"active\"} 1\n", own, StringComparison.Ordinal);
        Assert.Contains("\npnh_links{node=\"hub\",state=\"linked\"} 2\n", own, StringComparison.Ordinal);
        Assert.Contains("\npnh_requests_served_total 1\n", own, StringComparison.Ordinal);

        await TestCluster.StopAsync(edge);
        await TestCluster.UntilAsync(async () => (await cluster.Hub.SendAsync("GET", "/metrics", operations: true)).Body.Contains("\npnh_links{node=\"edge-1\",state=\"linked\"} 0\n", StringComparison.Ordinal));
    }

    [Fact]
    public async Task Link_AtThePublicListener_IsNotThere()
    {
        await using var cluster = await TestCluster.StartAsync();
        Assert.Equal(404, (await cluster.Hub.SendAsync("GET", "/v1/link")).Status);
        Assert.Equal(404, (await cluster.Hub.SendAsync("GET", "/v1/link", operations: true)).Status);
    }

    [Theory]
    [InlineData("0123456789abcdef0123456789abcdef-clusteR")]
    [InlineData("another key of thirty-two characters and more")]
    public async Task Link_WrongKey_IsRefusedAndTheEdgeIsNotReady(string key)
    {
        await using var cluster = await TestCluster.StartAsync();
        var edge = await cluster.StartEdgeAsync(key: key.Replace(' ', '-'), waits: false);
        Assert.Equal(401, await TestCluster.GetAsync(new Uri(cluster.Hub.Host.ClusterAddress, "/v1/link"), key.Replace(' ', '-')));
        Assert.Equal(400, await TestCluster.GetAsync(new Uri(cluster.Hub.Host.ClusterAddress, "/v1/link"), TestCluster.ClusterKey));
        await Task.Delay(300);
        await TestCluster.UntilReadyAsync(edge, false);
    }

    /// <summary>A line each, so that one of them can be removed.</summary>
    [Theory]
    [InlineData("west {0}", "east {0}")]
    [InlineData("west {0}", "west {1}")]
    public async Task Build_KeyOrNameTwice_IsAnErrorWithoutTheKey(string first, string second)
    {
        await using var files = new TestClusterFiles();
        string[] keys = [new('a', 32), new('b', 32)];
        var errors = new ConfigurationErrors();
        await using var host = await HubHost.BuildAsync(
            Role.Hub,
            [.. TestHub.Tokens(files.Folder), "--Pnh:Cluster:Urls=http://127.0.0.1:0", $"--Pnh:Cluster:KeyFile={files.Write(string.Format(CultureInfo.InvariantCulture, first, keys), string.Format(CultureInfo.InvariantCulture, second, keys))}"],
            errors, TestHub.Quiet, CancellationToken.None);

        Assert.Null(host);
        Assert.Equal("Pnh:Cluster:KeyFile: has a key or a name twice; each line is a key of its own", Assert.Single(errors.All).ToString());
    }

    [Fact]
    public async Task Link_SecondKeyOfTheHub_IsTakenToo()
    {
        await using var cluster = new TestClusterFiles();
        await using var hub = await TestCluster.StartAsync(Role.Hub, $"--Pnh:Cluster:KeyFile={cluster.Write("a new key of thirty-two characters".Replace(' ', '-'), TestCluster.ClusterKey)}");
        await hub.StartEdgeAsync();
    }

    [Fact]
    public async Task Edge_HubIsStartedAgain_KeepsItsSocketsAndWhatTheyAcked()
    {
        await using var cluster = await TestCluster.StartAsync();
        var edge = await cluster.StartEdgeAsync();
        var port = cluster.Hub.Host.ClusterAddress.Port;
        using var tab = await cluster.Hub.ConnectAsync("ada", "tab-1", at: edge.PublicAddress);
        for (var round = 0; round < 3; round++)
        {
            await cluster.Hub.SendAsync("POST", "/v1/events", $$"""{"id":"a-{{round}}","to":{"user":"ada"},"data":1}""");
            var frame = await tab.ReceiveEventAsync(ack: false);
            Assert.Equal($"a-{round}", frame.GetProperty("id").GetString());

            await cluster.Hub.DisposeAsync();
            await tab.SendAsync($$"""{"type":"ack","seq":{{frame.GetProperty("seq").GetInt64()}}}""");
            await cluster.StartHubAsync(port: port);

            await UntilTimelineAsync(cluster.Hub, $"a-{round}", "acked");
            await cluster.Hub.SendAsync("POST", "/v1/events", $$"""{"id":"b-{{round}}","to":{"user":"ada"},"data":1}""");
            Assert.Equal($"b-{round}", (await tab.ReceiveEventAsync()).GetProperty("id").GetString());
            await UntilTimelineAsync(cluster.Hub, $"b-{round}", "acked");
        }
    }

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public async Task Resume_AtAnotherEdge_GoesOnWithItsSeqAndTopics(bool isStillConnected)
    {
        await using var cluster = await TestCluster.StartAsync();
        var (one, two) = (await cluster.StartEdgeAsync("edge-1"), await cluster.StartEdgeAsync("edge-2"));
        var token = cluster.Hub.Host.Services.GetRequiredService<ClientTokens>().Create("demo", "ada", "tab-1", TimeSpan.FromHours(1), ["room"]);
        using var first = await TestSocket.OpenAsync(one.PublicAddress);
        var session = await HelloAsync(first, token);
        await first.SendAsync("""{"type":"join","topics":["room"]}""");
        foreach (var id in (string[])["e-1", "e-2"])
        {
            await cluster.Hub.SendAsync("POST", "/v1/events", $$"""{"id":"{{id}}","to":{"user":"ada"},"data":1}""");
            Assert.Equal(id, (await first.ReceiveAsync()).GetProperty("id").GetString());
        }

        if (!isStillConnected)
        {
            first.Dispose();
        }

        using var second = await TestSocket.OpenAsync(two.PublicAddress);
        Assert.Equal(session, await HelloAsync(second, token, resume: $$""","resume":{"session":"{{session}}","seq":1}"""));

        if (isStillConnected)
        {
            Assert.Equal("closed", (await first.ReceiveAsync()).GetProperty("type").GetString());
            Assert.Equal(4500, (int)first.CloseStatus!);
        }

        var again = await second.ReceiveAsync();
        Assert.Equal(("e-2", 2), (again.GetProperty("id").GetString(), again.GetProperty("seq").GetInt64()));
        await second.SendAsync("""{"type":"ack","seq":2}""");
        await cluster.Hub.SendAsync("POST", "/v1/events", """{"id":"e-3","to":{"topic":"room"},"data":1}""");
        var next = await second.ReceiveAsync();
        Assert.Equal(("e-3", 3), (next.GetProperty("id").GetString(), next.GetProperty("seq").GetInt64()));
        await second.SendAsync("""{"type":"ack","seq":3}""");
        foreach (var id in (string[])["e-1", "e-2", "e-3"])
        {
            await UntilTimelineAsync(cluster.Hub, id, "acked");
        }

        Assert.Single((await cluster.Hub.SendAsync("GET", "/v1/users/ada/presence")).Json.GetProperty("sessions").EnumerateArray());
    }

    /// <summary>As when an edge is frozen: a client gives up, comes back at the other edge, and then the frozen one reads its hello.</summary>
    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task Resume_HelloOfAnOlderConnectionIsReadLast_ClosesThatOne(bool wasResumed)
    {
        await using var cluster = await TestCluster.StartAsync();
        var (one, two) = (await cluster.StartEdgeAsync("edge-1"), await cluster.StartEdgeAsync("edge-2"));
        var token = cluster.Hub.ClientToken("ada");
        var (session, resume) = ("", "");
        if (wasResumed)
        {
            using var before = await TestSocket.OpenAsync(two.PublicAddress);
            session = await HelloAsync(before, token);
            resume = $$""","resume":{"session":"{{session}}","seq":0}""";
        }

        using var stale = await TestSocket.OpenAsync(one.PublicAddress);
        await Task.Delay(1200); // ages that a hub reads late are off by as much: within a second the one that is read last is the newer
        using var newer = await TestSocket.OpenAsync(two.PublicAddress);
        session = await HelloAsync(newer, token, resume);
        await stale.SendAsync($$"""{"type":"hello","token":"{{token}}","device":"tab-1","state":"active","resume":{"session":"{{session}}","seq":0} }""");
        while ((await stale.ReceiveAsync()).GetProperty("type").GetString() == "welcome")
        {
        }

        Assert.Equal(4500, (int)stale.CloseStatus!);
        await cluster.Hub.SendAsync("POST", "/v1/events", Message);
        Assert.Equal("m-1", (await newer.ReceiveEventAsync()).GetProperty("id").GetString());
        await UntilTimelineAsync(cluster.Hub, "m-1", "acked");
    }

    [Theory]
    [InlineData("Direct")]
    [InlineData("Framework")]
    public async Task Stop_OfAnEdge_HandsItsSessionsOverToTheOther(string transport)
    {
        await using var cluster = await TestCluster.StartAsync();
        var one = await cluster.StartEdgeAsync("edge-1", configuration: [$"--Pnh:Sockets:Transport={transport}", "--Pnh:Sockets:DrainWindow=00:00:01"]);
        var two = await cluster.StartEdgeAsync("edge-2");
        var token = cluster.Hub.ClientToken("ada");
        using var first = await TestSocket.OpenAsync(one.PublicAddress);
        var session = await HelloAsync(first, token);
        foreach (var id in (string[])["e-1", "e-2"])
        {
            await cluster.Hub.SendAsync("POST", "/v1/events", $$"""{"id":"{{id}}","to":{"user":"ada"},"data":1}""");
            Assert.Equal(id, (await first.ReceiveAsync()).GetProperty("id").GetString());
        }

        await first.SendAsync("""{"type":"ack","seq":1}"""); // the hub may not have noted it when the edge goes
        var stopped = TestCluster.StopAsync(one);
        var drain = await first.ReceiveAsync();
        Assert.Equal(("drain", true), (drain.GetProperty("type").GetString(), drain.GetProperty("resume").GetBoolean()));
        Assert.InRange(drain.GetProperty("after").GetDouble(), 0, 1);
        Assert.Equal("closed", (await first.ReceiveAsync()).GetProperty("type").GetString());
        Assert.Equal(4000, (int)first.CloseStatus!);
        await cluster.Hub.SendAsync("POST", "/v1/events", """{"id":"e-3","to":{"user":"ada"},"data":1}""");

        using var second = await TestSocket.OpenAsync(two.PublicAddress);
        Assert.Equal(session, await HelloAsync(second, token, resume: $$""","resume":{"session":"{{session}}","seq":1}"""));
        foreach (var (id, seq) in ((string, long)[])[("e-2", 2), ("e-3", 3)])
        {
            var frame = await second.ReceiveAsync();
            Assert.Equal((id, seq), (frame.GetProperty("id").GetString(), frame.GetProperty("seq").GetInt64()));
        }

        await second.SendAsync("""{"type":"ack","seq":3}""");
        await stopped;
        foreach (var id in (string[])["e-1", "e-2", "e-3"])
        {
            await UntilTimelineAsync(cluster.Hub, id, "acked");
        }

        Assert.Single((await cluster.Hub.SendAsync("GET", "/v1/users/ada/presence")).Json.GetProperty("sessions").EnumerateArray());
    }

    [Fact]
    public async Task Resume_EdgeThatHeldItIsGone_GetsANewSessionAtOnceAndItsMailAgain()
    {
        await using var cluster = await TestCluster.StartAsync();
        var (one, two) = (await cluster.StartEdgeAsync("edge-1"), await cluster.StartEdgeAsync("edge-2"));
        await cluster.Hub.SendAsync("PUT", "/v1/users/ada/devices/tab-1", """{"platform":"web"}""");
        var token = cluster.Hub.ClientToken("ada");
        var first = await TestSocket.OpenAsync(one.PublicAddress);
        var session = await HelloAsync(first, token);
        await cluster.Hub.SendAsync("POST", "/v1/events", Message);
        Assert.Equal("m-1", (await first.ReceiveEventAsync(ack: false)).GetProperty("id").GetString());
        await cluster.StopEdgeAsync(one);
        first.Dispose();

        using var second = await TestSocket.OpenAsync(two.PublicAddress);
        var from = TimeProvider.System.GetTimestamp();
        Assert.NotEqual(session, await HelloAsync(second, token, resume: $$""","resume":{"session":"{{session}}","seq":0}""", isResumed: false));
        Assert.Equal("m-1", (await second.ReceiveEventAsync()).GetProperty("id").GetString());
        Assert.InRange(TimeProvider.System.GetElapsedTime(from).TotalSeconds, 0, 2.5); // an edge that is there and hangs is waited for for 3 s
    }

    [Fact]
    public async Task Resume_OfASessionThatTheOldEdgeNeverGave_OpensANewOne()
    {
        await using var cluster = await TestCluster.StartAsync();
        var (one, two) = (await cluster.StartEdgeAsync("edge-1"), await cluster.StartEdgeAsync("edge-2"));
        var token = cluster.Hub.ClientToken("ada");
        using var first = await TestSocket.OpenAsync(one.PublicAddress);
        var session = await HelloAsync(first, token);
        using var second = await TestSocket.OpenAsync(two.PublicAddress);
        Assert.NotEqual(session, await HelloAsync(second, token, resume: $$""","resume":{"session":"{{session}}","seq":7}""", isResumed: false));
        using var stranger = await TestSocket.OpenAsync(two.PublicAddress);
        Assert.NotEqual(session, await HelloAsync(stranger, cluster.Hub.ClientToken("bob"), resume: $$""","resume":{"session":"{{session}}","seq":0}""", isResumed: false));
    }

    [Fact]
    public async Task Edge_HubNotThereYet_StartsAndIsReadyOnceItIs()
    {
        await using var cluster = await TestCluster.StartAsync();
        var address = cluster.Hub.Host.ClusterAddress;
        await cluster.Hub.DisposeAsync();
        var edge = await cluster.StartEdgeAsync(hub: address, waits: false);
        await TestCluster.UntilReadyAsync(edge, false);

        await cluster.StartHubAsync(port: address.Port);

        await TestCluster.UntilReadyAsync(edge, true);
    }

    [Fact]
    public async Task Edge_HubAwayForLongerThanItWaits_IsNotReady()
    {
        await using var cluster = await TestCluster.StartAsync();
        var edge = await cluster.StartEdgeAsync(configuration: "--Pnh:Edge:HubWait=00:00:01");

        await cluster.Hub.DisposeAsync();

        await TestCluster.UntilReadyAsync(edge, false);
    }

    [Theory]
    [InlineData("--Pnh:Data=x", "Pnh:Data")]
    [InlineData("--Pnh:Store=sqlite", "Pnh:Store")]
    [InlineData("--Pnh:Journal:MaxBytes=1000000000", "Pnh:Journal")]
    [InlineData("--Pnh:Apps:demo:Keys:0:Secret=0123456789abcdef", "Pnh:Apps:demo:Keys")]
    [InlineData("--Pnh:Apps:demo:Apns:0:TeamId=x", "Pnh:Apps:demo:Apns")]
    [InlineData("--Pnh:Cluster:Urls=http://localhost:1", "Pnh:Cluster:Urls")]
    [InlineData("--Pnh:Hubs=http://10.0.0.1:9091", "Pnh:Hubs")]
    [InlineData("--Pnh:Hubs=https://hub:9091/path", "Pnh:Hubs")]
    [InlineData("--Pnh:Hubs=", "Pnh:Hubs")]
    [InlineData("--Pnh:Cluster:KeyFile=/nowhere/key", "Pnh:Cluster:KeyFile")]
    [InlineData("--Pnh:Cluster:KeyFile=", "Pnh:Cluster:KeyFile")]
    [InlineData("--Pnh:Apps:other:Tokens:Audience=x", "Pnh:Apps:other")]
    [InlineData("--Pnh:Node=", "")]
    public async Task Build_KeysThatNoEdgeHas_AreErrors(string token, string key)
    {
        await using var files = new TestClusterFiles();
        var errors = new ConfigurationErrors();
        string[] good =
        [
            "--Pnh:Hubs=http://127.0.0.1:1", $"--Pnh:Cluster:KeyFile={files.Write(TestCluster.ClusterKey)}", "--Pnh:Apps:demo:Tokens:Hs256Secret=an HS256 secret of thirty-two bytes and more",
        ];

        await using var edge = EdgeHost.Build([.. good, token], errors, TestHub.Quiet);

        Assert.Equal(key.Length == 0, edge is not null);
        Assert.True(key.Length == 0 || errors.All.Any(error => error.ToString().StartsWith(key, StringComparison.Ordinal)), string.Join('\n', errors.All));
    }

    [Theory]
    [InlineData("short")]
    [InlineData("thirty-one-characters-are-fewer")]
    [InlineData("West a-key-of-thirty-two-characters-or-more")]
    [InlineData("west short")]
    [InlineData("with a space in it, thirty-two characters or more")]
    [InlineData("")]
    public async Task Build_KeyThatIsNone_IsAnErrorWithoutTheKey(string line)
    {
        await using var files = new TestClusterFiles();
        var errors = new ConfigurationErrors();
        await using var host = await HubHost.BuildAsync(
            Role.Hub, [.. TestHub.Tokens(files.Folder), "--Pnh:Cluster:Urls=http://127.0.0.1:0", $"--Pnh:Cluster:KeyFile={files.Write(line)}"], errors, TestHub.Quiet, CancellationToken.None);

        Assert.Null(host);
        Assert.StartsWith("Pnh:Cluster:KeyFile: must hold", Assert.Single(errors.All).ToString(), StringComparison.Ordinal);
    }

    [Theory]
    [InlineData(Role.Hub, "", "Pnh:Cluster:Urls: is missing")]
    [InlineData(Role.All, "--Pnh:Cluster:Urls=http://127.0.0.1:0", "Pnh:Cluster:KeyFile: is missing")]
    [InlineData(Role.All, "--Pnh:Cluster:Urls=http://0.0.0.0:0", "Pnh:Cluster:Urls: http://0.0.0.0:0 has no TLS")]
    [InlineData(Role.All, "--Pnh:Cluster:Urls=http://127.0.0.1:8080;--Pnh:Urls=http://127.0.0.1:8080", "Pnh:Cluster:Urls: uses port 8080")]
    [InlineData(Role.All, "--Pnh:Hubs=http://localhost:1", "Pnh:Hubs: unknown key")]
    [InlineData(Role.Hub, "--Pnh:Edge:HubWait=00:01:00", "Pnh:Edge: unknown key")]
    public async Task Build_HubWithHalfACluster_IsAnError(object role, string tokens, string error)
    {
        await using var files = new TestClusterFiles();
        var errors = new ConfigurationErrors();

        await using var host = await HubHost.BuildAsync(
            (Role)role, [.. TestHub.Tokens(files.Folder), .. tokens.Split(';', StringSplitOptions.RemoveEmptyEntries)], errors, TestHub.Quiet, CancellationToken.None);

        Assert.Null(host);
        Assert.Contains(errors.All, found => found.ToString().StartsWith(error, StringComparison.Ordinal));
    }

    private static async Task<TestSocket?> TryConnectAsync(TestHub hub, EdgeHost edge)
    {
        try
        {
            return await hub.ConnectAsync("ada", "tab-1", at: edge.PublicAddress);
        }
        catch (Xunit.Sdk.XunitException)
        {
            return null; // it is not linked yet
        }
    }

    private static async Task<string> HelloAsync(TestSocket socket, string token, string resume = "", bool? isResumed = null)
    {
        await socket.SendAsync($$"""{"type":"hello","token":"{{token}}","device":"tab-1","state":"active"{{resume}}}""");
        var welcome = await socket.ReceiveAsync();
        Assert.Equal("welcome", welcome.GetProperty("type").GetString());
        Assert.Equal(isResumed ?? resume.Length > 0, welcome.GetProperty("resumed").GetBoolean());
        return welcome.GetProperty("session").GetString()!;
    }

    private static async Task UntilTimelineAsync(TestHub hub, string id, string outcome)
    {
        var body = "";
        try
        {
            await TestCluster.UntilAsync(async () => (body = (await hub.SendAsync("GET", $"/v1/events/{id}")).Body).Contains(outcome, StringComparison.Ordinal));
        }
        catch (OperationCanceledException)
        {
            Assert.Fail($"No {outcome} in {body}");
        }
    }

    /// <summary>Files of a test.</summary>
    private sealed class TestClusterFiles : IAsyncDisposable
    {
        internal string Folder { get; } = Directory.CreateTempSubdirectory("pnh-key-").FullName;

        internal string Write(params string[] lines)
        {
            var file = Path.Combine(Folder, $"{Guid.NewGuid():N}.key");
            File.WriteAllLines(file, lines);
            return file;
        }

        public ValueTask DisposeAsync()
        {
            Directory.Delete(Folder, recursive: true);
            return ValueTask.CompletedTask;
        }
    }
}
