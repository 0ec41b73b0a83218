using Pnh.Api.Tests.Endpoints;

namespace Pnh.Api.Tests.EndToEnd;

/// <summary><c>POST /v1/topics/{topic}/members</c>.</summary>
public sealed class ManyMembersTests : IAsyncLifetime
{
    private TestHub _hub = null!;

    public async Task InitializeAsync() => _hub = await TestHub.StartAsync();

    public async Task DisposeAsync() => await _hub.DisposeAsync();

    [Fact]
    public async Task Change_Many_CountsWhatChangedAndMayBeSentAgain()
    {
        var users = string.Join(',', Enumerable.Range(0, 1_000).Select(static n => $"\"user-{n}\""));

        var first = await _hub.SendAsync("POST", "/v1/topics/news/members", $$"""{"add":[{{users}}]}""");
        var again = await _hub.SendAsync("POST", "/v1/topics/news/members", $$"""{"add":[{{users}}],"remove":["user-7","nobody"]}""");

        ApiSchema.HoldsAnswer("post", "/v1/topics/{topic}/members", first.Json);
        Assert.Equal("""{"added":1000,"removed":0}""", first.Body);
        Assert.Equal("""{"added":0,"removed":1}""", again.Body);
        Assert.Equal(999, (await _hub.SendAsync("GET", "/v1/topics/news/members")).Json.GetProperty("members").GetArrayLength());
    }

    [Fact]
    public async Task Change_WhileTheUserHasASession_TheNextEventComesAndThenNone()
    {
        using var socket = await _hub.ConnectAsync("bea", "tab");
        await _hub.SendAsync("POST", "/v1/topics/news/members", """{"add":["bea"]}""");
        await _hub.SendAsync("POST", "/v1/events", """{"id":"one","to":{"topic":"news"},"class":"transient"}""");
        await _hub.SendAsync("POST", "/v1/topics/news/members", """{"remove":["bea"]}""");
        await _hub.SendAsync("POST", "/v1/events", """{"id":"two","to":{"topic":"news"},"class":"transient"}""");
        await _hub.SendAsync("POST", "/v1/events", """{"id":"three","to":{"user":"bea"},"class":"transient"}""");

        Assert.Equal("one", (await socket.ReceiveEventAsync(ack: false)).GetProperty("id").GetString());
        Assert.Equal("three", (await socket.ReceiveEventAsync(ack: false)).GetProperty("id").GetString());
    }

    [Theory]
    [InlineData("{}", "/add")]
    [InlineData("""{"add":["a",7],"drop":[]}""", "/drop /add/1")]
    [InlineData("""{"add":[".."],"remove":"all"}""", "/add/0 /remove")]
    public async Task Change_WrongBody_NamesEachFault(string body, string pointers)
    {
        var answer = await _hub.SendAsync("POST", "/v1/topics/news/members", body);

        Assert.Equal((400, "invalid-body"), (answer.Status, answer.Code));
        Assert.Equal(pointers.Split(' ').Order(), answer.Pointers.Order());
    }
}
