using System.Net.Sockets;
using System.Text.Json;
using Pnh.Api.Tests.Endpoints;
using Pnh.TestKit;

namespace Pnh.Api.Tests.EndToEnd;

/// <summary><c>DELETE /v1/users/{user}</c>: nothing of the user is left but what the log tells, and the answer says until when.</summary>
public sealed class ErasureTests : IAsyncLifetime
{
    private TestHub _hub = null!;

    public async Task InitializeAsync() => _hub = await TestHub.StartAsync();

    public async Task DisposeAsync() => await _hub.DisposeAsync();

    [Fact]
    public async Task Erase_AUserWithEverything_LeavesNothingThatWaitsOrReaches()
    {
        await _hub.SendAsync("PUT", "/v1/users/bea/devices/tablet", """{"platform":"desktop"}""");
        await _hub.SendAsync("PUT", "/v1/users/eve/devices/tablet", """{"platform":"desktop"}""");
        await _hub.SendAsync("PUT", "/v1/users/bea/settings", """{"mutedClasses":["bulk"]}""");
        await _hub.SendAsync("PUT", "/v1/topics/room/members/bea");
        await SendAsync("hers", """{"user":"bea"}""");
        await SendAsync("both", """{"users":["bea","eve"]}""");
        using var socket = await _hub.ConnectAsync("bea", "till");
        await TestHub.EventuallyAsync(() => Events("bea"), static events => events == "both pending hers pending");

        var answer = await _hub.SendAsync("DELETE", "/v1/users/bea");

        Assert.Equal(200, answer.Status);
        ApiSchema.HoldsAnswer("delete", "/v1/users/{user}", answer.Json);
        Assert.StartsWith("""{"user":"bea","devices":1,"topics":1,"sessions":1,"withdrawn":2,"goneBy":""", answer.Body, StringComparison.Ordinal);
        Assert.Equal("both withdrawn hers withdrawn", Events("bea"));
        Assert.Equal("both pending", Events("eve"));
        var user = (await _hub.SendAsync("GET", "/v1/users/bea")).Json;
        Assert.Empty(user.GetProperty("devices").EnumerateArray());
        Assert.DoesNotContain("bulk", user.GetRawText(), StringComparison.Ordinal);
        Assert.DoesNotContain("bea", (await _hub.SendAsync("GET", "/v1/topics/room/members")).Body, StringComparison.Ordinal);
        await TestHub.EventuallyAsync(() => _hub.SendAsync("GET", "/v1/users/bea/presence").AsTaskResult().Json.GetProperty("online").GetBoolean(), static online => !online);
        Assert.Equal("""{"id":"after","durable":true,"devices":0}""", (await SendAsync("after", """{"user":"bea"}""")).Body);
    }

    [Theory]
    [InlineData("/v1/users/bea/devices/phone", """{"platform":"desktop"}""")]
    [InlineData("/v1/users/bea/settings", """{"mutedClasses":["bulk"]}""")]
    public async Task Erase_WhileAClientSendsTheBodyOfAPut_TheUserStaysAway(string path, string body)
    {
        await _hub.SendAsync("PUT", "/v1/users/bea/devices/tablet", """{"platform":"desktop"}""");
        using var client = new TcpClient { NoDelay = true };
        await client.ConnectAsync(_hub.Host.PublicAddress.Host, _hub.Host.PublicAddress.Port);
        var stream = client.GetStream();
        await WriteAsync($"PUT {path} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer {_hub.ClientToken("bea")}\r\nContent-Type: application/json\r\nContent-Length: {body.Length}\r\nConnection: close\r\nExpect: 100-continue\r\n\r\n");
        using var reader = new StreamReader(stream);
        Assert.Equal("HTTP/1.1 100 Continue", await reader.ReadLineAsync()); // the token was taken, and the body is read

        Assert.Equal(200, (await _hub.SendAsync("DELETE", "/v1/users/bea")).Status);
        await WriteAsync(body);

        Assert.Contains("HTTP/1.1 401", await reader.ReadToEndAsync(), StringComparison.Ordinal);
        var user = (await _hub.SendAsync("GET", "/v1/users/bea")).Json;
        Assert.Empty(user.GetProperty("devices").EnumerateArray());
        Assert.DoesNotContain("bulk", user.GetRawText(), StringComparison.Ordinal);

        ValueTask WriteAsync(string text) => stream.WriteAsync(System.Text.Encoding.ASCII.GetBytes(text));
    }

    /// <summary>The id and the time are those of the first, and the receipt does not name the user.</summary>
    [Fact]
    public async Task Erase_Again_GivesTheSameReceipt()
    {
        await _hub.SendAsync("PUT", "/v1/users/bea/devices/tablet", """{"platform":"desktop"}""");
        await SendAsync("hers", """{"user":"bea"}""");
        var first = await _hub.SendAsync("DELETE", "/v1/users/bea");

        Assert.Equal(first.Body, (await _hub.SendAsync("DELETE", "/v1/users/bea")).Body);
        var id = first.Json.GetProperty("id").GetString();
        var receipt = await _hub.SendAsync("GET", $"/v1/erasures/{id}");
        ApiSchema.HoldsAnswer("get", "/v1/erasures/{id}", receipt.Json);
        Assert.Equal(first.Body.Replace("\"user\":\"bea\",", "", StringComparison.Ordinal), receipt.Body);
        Assert.Equal((404, "no-such-item"), Short(await _hub.SendAsync("GET", $"/v1/erasures/{new string('0', 32)}")));
        Assert.Equal(403, (await _hub.SendAsync("GET", $"/v1/erasures/{id}", credential: _hub.ClientToken("eve"))).Status);

        await _hub.SendAsync("PUT", "/v1/users/bea/devices/phone", """{"platform":"desktop"}""");
        var second = await _hub.SendAsync("DELETE", "/v1/users/bea");
        Assert.NotEqual(id, second.Json.GetProperty("id").GetString());
        Assert.Equal(1, second.Json.GetProperty("devices").GetInt32());
        Assert.Equal(receipt.Body, (await _hub.SendAsync("GET", $"/v1/erasures/{id}")).Body);
    }

    /// <summary>At both doors, over a start, and not those of other users.</summary>
    [Fact]
    public async Task Erase_ClientTokenOfBefore_DoesNotBringTheUserBack()
    {
        using var folder = new TemporaryFolder();
        string old;
        await using (var hub = await TestHub.StartAsync(folder.FullPath))
        {
            old = hub.OldToken("bea", TimeSpan.FromMinutes(1));
            Assert.Equal(201, (await PutAsync(hub, "bea", old)).Status);
            await hub.SendAsync("DELETE", "/v1/users/bea");

            Assert.Equal((401, "unauthorized"), Short(await PutAsync(hub, "bea", old)));
            Assert.Equal("bad-token", await HelloAsync(hub, old));
            Assert.Equal(201, (await PutAsync(hub, "eve", hub.OldToken("eve", TimeSpan.FromMinutes(1)))).Status);
            Assert.Equal(201, (await PutAsync(hub, "bea", hub.ClientToken("bea"))).Status);
        }

        await using var again = await TestHub.StartAsync(folder.FullPath);
        Assert.Equal((401, "unauthorized"), Short(await PutAsync(again, "bea", old)));
        Assert.Equal(200, (await PutAsync(again, "bea", again.ClientToken("bea"))).Status);
    }

    /// <summary>Every file of the folder, after the date in the answer: what was written anew, what is free in a file, and what is carried on for others.</summary>
    [Fact]
    public async Task Erase_AfterItsDate_NoFileNamesTheUserOrAnAddress()
    {
        const string User = "mia-erased-7f3a";
        const string Token = "0badc0de0badc0de0badc0de0badc0de0badc0de0badc0de0badc0de0badc0de";
        await using var hub = await TestHub.StartAsync(configuration: ["--Pnh:Journal:Retention=00:00:01"]);
        await hub.SendAsync("PUT", $"/v1/users/{User}/devices/phone-{User}", $$$"""{"platform":"ios","apns":{"token":"{{{Token}}}","topic":"com.example"}}""");
        await hub.SendAsync("PUT", $"/v1/users/{User}/devices/tablet", """{"platform":"desktop"}""");
        await hub.SendAsync("PUT", "/v1/users/eve/devices/tablet", """{"platform":"desktop"}""");
        await hub.SendAsync("PUT", $"/v1/users/{User}/settings", """{"mutedTopics":["room"]}""");
        await hub.SendAsync("PUT", $"/v1/topics/room/members/{User}");
        foreach (var (id, to) in new[] { ("hers", $$"""{"user":"{{User}}"}"""), ("both", $$"""{"users":["{{User}}","eve"]}"""), ("room", """{"topic":"room"}""") })
        {
            Assert.Equal(202, (await hub.SendAsync("POST", "/v1/events", $$"""{"id":"{{id}}","to":{{to}},"ttl":3600}""")).Status);
        }

        await TestHub.EventuallyAsync(() => Traces(hub.Folder, User), static files => files.Contains("registry", StringComparison.Ordinal) && files.Contains(".log", StringComparison.Ordinal));
        var erased = await hub.SendAsync("DELETE", $"/v1/users/{User}");
        Assert.Equal(200, erased.Status);

        // An event now and then, as segments leave while something is written.
        var n = 0;
        await TestHub.EventuallyAsync(
            () =>
            {
                _ = hub.SendAsync("POST", "/v1/events", $$$"""{"id":"later-{{{n++}}}","to":{"user":"lin"}}""").AsTaskResult();
                return Traces(hub.Folder, User) + Traces(hub.Folder, Token);
            },
            static files => files.Length == 0,
            TimeSpan.FromMinutes(3)); // after a segment that was mostly open events the journal rests for a minute
        Assert.Equal("both pending", string.Join(' ', (await hub.SendAsync("GET", "/v1/users/eve/events")).Json.GetProperty("events").EnumerateArray()
            .SelectMany(static one => one.GetProperty("deliveries").EnumerateArray().Select(delivery => $"{one.GetProperty("id").GetString()} {delivery.GetProperty("state").GetString()}"))));
        Assert.Contains("\"duplicate\":true", (await hub.SendAsync("POST", "/v1/events", $$"""{"id":"both","to":{"users":["{{User}}","eve"]},"ttl":3600}""")).Body, StringComparison.Ordinal);
        Assert.Empty(Traces(hub.Folder, User));
    }

    // Names of files that hold the text.
    private static string Traces(string folder, string text)
    {
        var sought = System.Text.Encoding.UTF8.GetBytes(text);
        var found = new List<string>();
        foreach (var file in Directory.EnumerateFiles(folder, "*", SearchOption.AllDirectories))
        {
            try
            {
                using var stream = new FileStream(file, FileMode.Open, FileAccess.Read, FileShare.ReadWrite | FileShare.Delete);
                var bytes = new byte[stream.Length];
                stream.ReadExactly(bytes);
                if (bytes.AsSpan().IndexOf(sought) >= 0)
                {
                    found.Add(Path.GetFileName(file));
                }
            }
            catch (Exception fault) when (fault is IOException or UnauthorizedAccessException)
            {
                // Gone, or held by the hub as its lock.
            }
        }

        return string.Join(' ', found);
    }

    [Fact]
    public async Task Erase_NobodyKnown_FindsNothing()
    {
        Assert.StartsWith("""{"user":"nobody","devices":0,"topics":0,"sessions":0,"withdrawn":0,"id":""", (await _hub.SendAsync("DELETE", "/v1/users/nobody")).Body, StringComparison.Ordinal);
        Assert.Equal(403, (await _hub.SendAsync("DELETE", "/v1/users/bea", credential: _hub.ClientToken("bea"))).Status);
    }

    private static Task<Answer> PutAsync(TestHub hub, string user, string token) => hub.SendAsync("PUT", $"/v1/users/{user}/devices/tablet", """{"platform":"desktop"}""", credential: token);

    private static (int Status, string? Code) Short(Answer answer) => (answer.Status, answer.Code);

    private static async Task<string?> HelloAsync(TestHub hub, string token)
    {
        using var socket = await TestSocket.OpenAsync(hub.Host.PublicAddress);
        await socket.SendAsync(JsonSerializer.Serialize(new { type = "hello", token, device = "tablet", state = "active" }));
        return (await socket.ReceiveAsync()).GetProperty("code").GetString();
    }

    private string Events(string user) => string.Join(' ', _hub.SendAsync("GET", $"/v1/users/{user}/events").AsTaskResult().Json.GetProperty("events").EnumerateArray()
        .SelectMany(static one => one.GetProperty("deliveries").EnumerateArray().Select(delivery => $"{one.GetProperty("id").GetString()} {delivery.GetProperty("state").GetString()}")));

    private Task<Answer> SendAsync(string id, string to) => _hub.SendAsync("POST", "/v1/events", $$"""{"id":"{{id}}","to":{{to}}}""");
}
