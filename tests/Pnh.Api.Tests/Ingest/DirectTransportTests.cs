using System.Text;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;
using Pnh.Api.Tests.EndToEnd;
using Pnh.Api.Tests.FrontDoor;
using Pnh.Channels.Net.Epoll;
using Pnh.Core.Diagnostics;
using Pnh.Core.Events;
using Pnh.Core.Hubs;
using Pnh.TestKit;

namespace Pnh.Api.Tests.Ingest;

/// <summary>The three ways over real sockets: events on the loop, everything else at Kestrel, and no client can tell.</summary>
public sealed class DirectTransportTests : IAsyncLifetime
{
    private const string Transient = """{"to":{"user":"ada"},"class":"transient"}""";
    private const string Durable = """{"id":"one","to":{"user":"ada"}}""";
    private TestHub _hub = null!;

    private int Port => _hub.Host.PublicAddress.Port;

    private SocketLoops Loops => _hub.Host.Services.GetRequiredService<SocketLoops>();

    public async Task InitializeAsync() => _hub = await TestHub.StartAsync();

    public async Task DisposeAsync() => await _hub.DisposeAsync();

    [Fact]
    public async Task Events_OfAllKindsOnOneConnection_StayOnTheLoop()
    {
        using var client = await RawClient.ConnectAsync(Port);
        string[] bodies = [Transient, Durable, Durable, Durable.Replace("ada", "bob", StringComparison.Ordinal), "{}", "not json", "", Transient];
        var statuses = new List<int>();
        foreach (var body in bodies)
        {
            await client.SendAsync(Post(body));
            statuses.Add((await client.ReceiveAsync()).Status);
        }

        Assert.Equal([202, 202, 202, 409, 400, 400, 400, 202], statuses);
        Assert.Equal(1, Loops.Count);
    }

    [Fact]
    public async Task Events_ManyAtOnce_AreAnsweredInOrder()
    {
        using var client = await RawClient.ConnectAsync(Port);
        var ids = Enumerable.Range(0, 200).Select(static i => i % 3 == 0 ? $"t{i}" : $"d{i}").ToArray();
        await client.SendAsync(string.Concat(ids.Select(id => Post($$"""{"id":"{{id}}","to":{"user":"ada"},"class":"{{(id[0] == 't' ? "transient" : "message")}}"}"""))));
        foreach (var id in ids)
        {
            var answer = await client.ReceiveAsync();
            Assert.Equal((202, $$"""{"id":"{{id}}","durable":{{(id[0] == 't' ? "false" : "true")}}}"""), (answer.Status, answer.Body));
        }
    }

    [Theory]
    [InlineData(Transient)]
    [InlineData("""{"to":{"user":"ada"}}""")]
    public async Task Event_ByteByByte_IsTaken(string body)
    {
        using var client = await RawClient.ConnectAsync(Port);
        foreach (var character in Post(body))
        {
            await client.SendAsync(character.ToString());
        }

        Assert.Equal(202, (await client.ReceiveAsync()).Status);
    }

    [Theory]
    [InlineData(1, Transient)]
    [InlineData(1, """{"to":{"user":"ada"}}""")]
    [InlineData(20, """{"to":{"user":"ada"}}""")]
    public async Task Event_ClientEndsSending_IsAnsweredAndClosed(int count, string body)
    {
        using var client = await RawClient.ConnectAsync(Port);
        await client.SendAsync(string.Concat(Enumerable.Repeat(Post(body), count)));
        client.EndSending();

        var answers = await client.ReceiveAllAsync();

        Assert.Equal(count, answers.Split("HTTP/1.1 202 ").Length - 1);
    }

    [Fact]
    public async Task Event_ConnectionClose_IsTheLastAnswer()
    {
        using var client = await RawClient.ConnectAsync(Port);
        await client.SendAsync(Post("""{"to":{"user":"ada"}}""", "Connection: close\r\n") + Post(Transient));

        var answer = await client.ReceiveAllAsync();

        Assert.Contains("\r\nConnection: close\r\n", answer, StringComparison.Ordinal);
        Assert.Single(answer.Split("HTTP/1.1 ").Skip(1));
    }

    [Fact]
    public async Task Event_TraceParent_GoesOn()
    {
        using var socket = await _hub.ConnectAsync("ada", "tab");
        using var client = await RawClient.ConnectAsync(Port);
        await client.SendAsync(Post(Transient, "traceparent: 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01\r\n"));

        Assert.Equal("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", (await socket.ReceiveAsync()).GetProperty("traceparent").GetString());
    }

    [Fact]
    public async Task OtherRequest_CutAnywhere_IsKestrelsWithAllItsBytes()
    {
        var requests = new[]
        {
            "GET /healthz HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n",
            $"POST /v1/events HTTP/1.1\r\nHost: a\r\nConnection: close\r\nAuthorization: Bearer {_hub.Key}\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
                + $"{Transient.Length:x}\r\n{Transient}\r\n0\r\n\r\n",
        };
        foreach (var request in requests)
        {
            for (var cut = 1; cut < request.Length; cut++)
            {
                using var client = await RawClient.ConnectAsync(Port);
                await client.SendAsync(request[..cut]);
                await client.SendAsync(request[cut..]);
                Assert.Matches("^HTTP/1.1 20[02] ", await client.ReceiveAllAsync());
            }
        }
    }

    [Fact]
    public async Task OtherRequest_AfterEventsInOneSegment_IsKestrelsAndSoIsWhatFollows()
    {
        using var client = await RawClient.ConnectAsync(Port);
        await client.SendAsync(Post(Durable) + Post(Transient) + "GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n" + Post(Transient));
        var statuses = new List<int>();
        for (var i = 0; i < 4; i++)
        {
            statuses.Add((await client.ReceiveAsync()).Status);
        }

        Assert.Equal([202, 202, 200, 202], statuses);
        Assert.Equal(0, Loops.Count);
    }

    [Fact]
    public async Task Lines_Arrays_AreKestrels()
    {
        var lines = await _hub.SendAsync("POST", "/v1/events", $"{Transient}\n{Transient}\n", "application/x-ndjson");
        var array = await _hub.SendAsync("POST", "/v1/events", $" [{Transient},{Transient}]");

        Assert.Equal((207, 207), (lines.Status, array.Status));
        Assert.All([lines, array], static answer => Assert.Equal(2, answer.Lines[^1].GetProperty("accepted").GetInt32()));
    }

    [Theory]
    [InlineData(Transient, 60_000, 202)]
    [InlineData($"[{Transient}]", 60_000, 207)]
    [InlineData("", 60_000, 400)]
    [InlineData(Transient, 3 * 1024 * 1024, 413)]
    public async Task Body_BehindBlanks_IsTakenUpToABound(string body, int count, int status)
    {
        using var client = await RawClient.ConnectAsync(Port);
        var blanks = new string('\n', count);
        var last = body.Length == 0 ? "" : $"{body.Length:x}\r\n{body}\r\n";
        await client.SendAsync(
            $"POST /v1/events HTTP/1.1\r\nHost: a\r\nConnection: close\r\nAuthorization: Bearer {_hub.Key}\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
            + $"{blanks.Length:x}\r\n{blanks}\r\n{last}0\r\n\r\n");

        Assert.StartsWith($"HTTP/1.1 {status} ", await client.ReceiveAllAsync(), StringComparison.Ordinal);
    }

    [Fact]
    public async Task Event_CountedAsOnTheOtherWay()
    {
        using var client = await RawClient.ConnectAsync(Port);
        await client.SendAsync(Post(Transient) + Post("{}"));
        await client.ReceiveAsync();
        await client.ReceiveAsync();

        var counted = _hub.Host.Services.GetRequiredService<HubMetrics>().Snapshot().Events;
        Assert.Equal(1, Assert.Single(counted, static e => e.Result == EventResult.Invalid).Count);
        Assert.Equal(1, Assert.Single(counted, static e => e.Result == EventResult.Accepted).Count);
    }

    [Fact]
    public async Task Answers_OfEveryKind_AreThoseOfTheFramework()
    {
        await using var framework = await TestHub.StartAsync(null, null, "--Pnh:Sockets:Transport=Framework");
        string[] bodies = ["""{"id":"two","to":{"user":"ada"}}""", """{"id":"two","to":{"user":"ada"}}""", """{"id":"two","to":{"user":"bob"}}""", "{", "{}", """{"to":7,"no":1}""", new string(' ', Limits.EventBytes + 1)];
        foreach (var body in bodies)
        {
            await AssertSameAsync(framework, key => Request(body, key));
        }

        await AssertSameAsync(framework, static _ => Request(Transient, "wrong"));
        await AssertSameAsync(framework, static key => Request(Transient, key, "Content-Encoding: gzip\r\n"));
        await AssertSameAsync(framework, static key => Request(Transient, key).Replace("application/json", "text/plain", StringComparison.Ordinal));
        await AssertSameAsync(framework, static key => Request(Transient, key).Replace("Authorization", "X-Authorization", StringComparison.Ordinal));
        await AssertSameAsync(framework, static key => Request(Transient, key, "Host: b\r\n"));
        foreach (var host in new[] { "a:b", "]:[", "a:", ":80", "[::1", "[]", "[::1]:8080", "a_b-c.d:8080" })
        {
            await AssertSameAsync(framework, key => Request(bodies[0], key).Replace("Host: localhost", $"Host: {host}", StringComparison.Ordinal));
        }

        await _hub.Host.Services.GetRequiredService<Hub>().StopAsync(CancellationToken.None);
        await framework.Host.Services.GetRequiredService<Hub>().StopAsync(CancellationToken.None);
        await AssertSameAsync(framework, static key => Request(Transient, key));
    }

    [Fact]
    public async Task Stop_RequestHalfSent_IsAnsweredFirst()
    {
        using var idle = await RawClient.ConnectAsync(Port);
        using var client = await RawClient.ConnectAsync(Port);
        await idle.SendAsync(Post(Transient));
        await idle.ReceiveAsync();
        var request = Post("""{"to":{"user":"ada"}}""");
        await client.SendAsync(request[..^1]);
        await TestHub.EventuallyAsync(() => Loops.Count, static count => count == 2);
        var stopped = _hub.Host.WaitForShutdownAsync(CancellationToken.None);
        _hub.Host.Services.GetRequiredService<IHostApplicationLifetime>().StopApplication();
        Assert.Equal("", await idle.ReceiveAllAsync());

        await client.SendAsync(request[^1..]);

        Assert.Matches("(?s)^HTTP/1.1 202 Accepted\r\nConnection: close\r\n", await client.ReceiveAllAsync());
        await stopped;
    }

    [Fact]
    public async Task Share_OfTheConnections_IsServedOnTheLoop()
    {
        await using var hub = await TestHub.StartAsync(null, null, "--Pnh:Sockets:Transport=Direct:25%");
        var clients = new List<RawClient>();
        for (var i = 0; i < 100; i++)
        {
            var client = await RawClient.ConnectAsync(hub.Host.PublicAddress.Port);
            clients.Add(client);
            await client.SendAsync(Request(Transient, hub.Key));
            Assert.Equal(202, (await client.ReceiveAsync()).Status);
        }

        Assert.Equal(25, hub.Host.Services.GetRequiredService<SocketLoops>().Count);
        clients.ForEach(static client => client.Dispose());
    }

    [Fact]
    public async Task Framework_AsConfigured_HasNoLoops()
    {
        await using var hub = await TestHub.StartAsync(null, null, "--Pnh:Sockets:Transport=Framework");

        Assert.Null(hub.Host.Services.GetService<SocketLoops>());
    }

    [Fact]
    public async Task Localhost_WithAPort_IsOursOnBothItsAddresses()
    {
        var port = FreePort.Take();
        await using var hub = await TestHub.StartAsync(null, null, $"--Pnh:Urls=http://localhost:{port}");
        using var client = await RawClient.ConnectAsync(port);
        await client.SendAsync(Request(Transient, hub.Key));

        Assert.Equal(202, (await client.ReceiveAsync()).Status);
        Assert.Equal(1, hub.Host.Services.GetRequiredService<SocketLoops>().Count);
        Assert.Equal($"http://localhost:{port}/", hub.Host.PublicAddress.ToString());
    }

    private async Task AssertSameAsync(TestHub framework, Func<string, string> request)
    {
        var ours = await ExchangeAsync(_hub, request);
        var theirs = await ExchangeAsync(framework, request);
        Assert.Equal(theirs.Status, ours.Status);
        Assert.Equal(theirs.Body, ours.Body);
        Assert.Equal(Headers(theirs), Headers(ours));
    }

    private static async Task<WireAnswer> ExchangeAsync(TestHub hub, Func<string, string> request)
    {
        using var client = await RawClient.ConnectAsync(hub.Host.PublicAddress.Port);
        await client.SendAsync(request(hub.Key));
        return await client.ReceiveAsync();
    }

    // In any order, the time of day aside.
    private static string[] Headers(WireAnswer answer) =>
        [.. answer.Head.Split("\r\n").Select(static line => line.StartsWith("Date:", StringComparison.Ordinal) ? "Date" : line).Order(StringComparer.Ordinal)];

    private string Post(string body, string headers = "") => Request(body, _hub.Key, headers);

    private static string Request(string body, string key, string headers = "") =>
        $"POST /v1/events HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {key}\r\nContent-Type: application/json\r\n{headers}Content-Length: {Encoding.UTF8.GetByteCount(body)}\r\n\r\n{body}";
}
