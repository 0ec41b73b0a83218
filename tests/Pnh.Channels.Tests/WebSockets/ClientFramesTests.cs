using Pnh.Core.Sessions;

namespace Pnh.Channels.Tests.WebSockets;

/// <summary>On the framework's WebSocket.</summary>
public sealed class FrameworkClientFramesTests() : ClientFramesTests(SocketTransport.Framework);

/// <summary>On our own.</summary>
public sealed class DirectClientFramesTests() : ClientFramesTests(SocketTransport.Direct);

/// <summary>By a hub that is reached by bytes only.</summary>
public sealed class ByteLinkClientFramesTests() : ClientFramesTests(SocketTransport.Direct, overBytes: true);

/// <summary>What a client says besides acks: answers, topics, its own events.</summary>
public abstract class ClientFramesTests(SocketTransport transport, bool overBytes = false) : SocketTests(transport, overBytes)
{
    [Theory]
    [InlineData("""{"type":"answer","id":"e-1","as":"accepted"}""", "answered e-1 accepted")]
    [InlineData("""{"type":"seen","id":"e-1"}""", "seen e-1")]
    [InlineData("""{"type":"seen","id":"e-1","as":"ignored"}""", "seen e-1")]
    public async Task Answer_AndSeen_ReachTheHub(string message, string heard)
    {
        await using var host = await StartAsync();
        var (client, _) = await host.OpenAsync();
        using var __ = client;
        await client.SendAsync(message);
        Assert.Equal(heard, await host.Hub.NextSaidAsync());
    }

    [Fact]
    public async Task Join_AllowedTopics_AreJoinedOnceAndLeftOnce()
    {
        await using var host = await StartAsync();
        var (client, _) = await host.OpenAsync(token: "room-token");
        using var __ = client;
        await client.SendAsync("""{"type":"join","topics":["room-7","team/red","room-7"]}""");
        await client.SendAsync("""{"type":"join","topics":["room-7"]}""");
        await client.SendAsync("""{"type":"join","topics":["team/","team/red"]}""");
        await client.SendAsync("""{"type":"leave","topics":["nowhere"]}""");
        await client.SendAsync("""{"type":"leave","topics":["room-7","nowhere"]}""");
        await client.SendAsync("""{"type":"leave","topics":["room-7"]}""");
        await client.SendAsync("""{"type":"join","topics":["room-7"]}""");
        Assert.Equal("joined room-7 team/red", await host.Hub.NextSaidAsync());
        Assert.Equal("joined team/", await host.Hub.NextSaidAsync());
        Assert.Equal("left room-7", await host.Hub.NextSaidAsync());
        Assert.Equal("joined room-7", await host.Hub.NextSaidAsync());
    }

    [Theory]
    [InlineData("ada-token", "room-7")]
    [InlineData("room-token", "room-70")]
    [InlineData("room-token", "team")]
    [InlineData("room-token", "Room-7")]
    [InlineData("room-token", "*")]
    public async Task Join_OneThatTheTokenDoesNotAllow_JoinsNothing(string token, string topic)
    {
        await using var host = await StartAsync();
        var (client, _) = await host.OpenAsync(token: token);
        using var __ = client;
        await client.SendAsync($$"""{"type":"join","topics":["team/red","{{topic}}"]}""");
        Assert.Equal("not-allowed", (await client.ReadAsync("error")).GetProperty("code").GetString());
        await client.SendAsync("""{"type":"leave","topics":["team/red"]}""");
        await client.SendAsync("""{"type":"seen","id":"fence"}""");
        Assert.Equal("seen fence", await host.Hub.NextSaidAsync());
    }

    [Fact]
    public async Task Join_MoreThanTheLimit_JoinsNothingAndGoesOn()
    {
        await using var host = await StartAsync(o => o.MaxTopics = 3);
        var (client, _) = await host.OpenAsync(token: "any-token");
        using var __ = client;
        await client.SendAsync("""{"type":"join","topics":["a","b"]}""");
        await client.SendAsync("""{"type":"join","topics":["c","d"]}""");
        Assert.Equal("too-many-topics", (await client.ReadAsync("error")).GetProperty("code").GetString());
        await client.SendAsync("""{"type":"join","topics":["a","c"]}""");
        Assert.Equal("joined a b", await host.Hub.NextSaidAsync());
        Assert.Equal("joined c", await host.Hub.NextSaidAsync());
    }

    /// <summary>A client that knows answers of joins has each topic answered; the others, above, have all or none.</summary>
    [Fact]
    public async Task Join_ByAClientThatKnowsAnswers_AnswersEachTopic()
    {
        await using var host = await StartAsync(o => o.MaxTopics = 3);
        using var client = await SocketClient.ConnectAsync(host.Port);
        await client.SendAsync("""{"type":"hello","token":"room-token","device":"tab-1","knows":["teleport",["joined"],"joined",{"a":1}]}""");
        var welcome = await client.ReadAsync("welcome");
        Assert.Equal("""["joined"] []""", $"{welcome.GetProperty("knows").GetRawText()} {welcome.GetProperty("topics").GetRawText()}");

        await client.SendAsync("""{"type":"join","topics":["room-7","hall","team/1","room-7","hall"]}""");
        Assert.Equal("""{"type":"joined","topics":["room-7","team/1"],"refused":{"not-allowed":["hall"]}}""", (await client.ReadAsync("joined")).GetRawText());
        await client.SendAsync("""{"type":"join","topics":["team/1","team/2","team/3","hall"]}""");
        Assert.Equal("""{"type":"joined","topics":["team/1","team/2"],"refused":{"not-allowed":["hall"],"too-many-topics":["team/3"]}}""", (await client.ReadAsync("joined")).GetRawText());
        await client.SendAsync("""{"type":"join","topics":["team/1"]}""");
        Assert.Equal("""{"type":"joined","topics":["team/1"],"refused":{}}""", (await client.ReadAsync("joined")).GetRawText());
        Assert.Equal("joined room-7 team/1", await host.Hub.NextSaidAsync());
        Assert.Equal("joined team/2", await host.Hub.NextSaidAsync());
    }

    [Fact]
    public async Task Answer_ByAClientThatKnowsIt_IsConfirmedOnceItIsKept()
    {
        await using var host = await StartAsync();
        using var client = await SocketClient.ConnectAsync(host.Port);
        await client.SendAsync("""{"type":"hello","token":"ada-token","device":"tab-1","knows":["confirmed"]}""");
        Assert.Equal("""["confirmed"]""", (await client.ReadAsync("welcome")).GetProperty("knows").GetRawText());
        await client.SendAsync("""{"type":"answer","id":"e-1","as":"accepted"}""");
        Assert.Equal("""{"type":"confirmed","of":"answer","id":"e-1"}""", (await client.ReadAsync("confirmed")).GetRawText());
        await client.SendAsync("""{"type":"seen","id":"e-1"}""");
        Assert.Equal("""{"type":"confirmed","of":"seen","id":"e-1"}""", (await client.ReadAsync("confirmed")).GetRawText());
        if (!OverBytes)
        {
            host.Hub.Unkept.Add("e-2"); // what is on its way over a link is kept at its beginning
            await client.SendAsync("""{"type":"seen","id":"e-2"}""");
        }

        await client.SendAsync("""{"type":"seen","id":"e-3"}""");
        Assert.Equal("e-3", (await client.ReadAsync("confirmed")).GetProperty("id").GetString());
    }

    /// <summary>A call on the screen needs no push, though a message before it still waits for its handler.</summary>
    [Fact]
    public async Task Taken_ByItsId_IsAnAckToTheHubAndNoneOfWhatCameBefore()
    {
        await using var host = await StartAsync();
        var (client, opened) = await host.OpenAsync();
        using var _ = client;
        opened.Link.TrySend(opened.Key.Session, Events.Make("e-1"));
        opened.Link.TrySend(opened.Key.Session, Events.Make("e-2"));
        await client.ReadFramesAsync(2);
        await client.SendAsync("""{"type":"taken","id":"e-2"}""");
        Assert.Equal("e-2", await host.Hub.NextAckedAsync());
        Assert.Equal(2, host.Server.CountSessions().Unacked);
        await client.AckAsync(1);
        Assert.Equal("e-1", await host.Hub.NextAckedAsync());
    }

    /// <summary>After the welcome, and on each connection until it is acknowledged.</summary>
    [Fact]
    public async Task TellMissed_ClientThatHearsIt_IsToldUntilItAcknowledges()
    {
        await using var host = await StartAsync();
        var client = await SocketClient.ConnectAsync(host.Port);
        await client.SendAsync("""{"type":"hello","token":"ada-token","device":"tab-1","knows":["missed"]}""");
        var session = (await client.ReadAsync("welcome")).GetProperty("session").GetString();
        var opened = await host.Hub.NextOpenedAsync();
        Assert.True(opened.Link.TryTellMissed(opened.Key.Session, new MissedEvents(3, 1_790_000_000_000)));
        await AssertToldAsync(client);
        client.Lose();
        await host.Hub.NextDetachedAsync();

        using var again = await SocketClient.ConnectAsync(host.Port);
        await again.SendAsync($$$"""{"type":"hello","token":"ada-token","device":"tab-1","knows":["missed"],"resume":{"session":"{{{session}}}","seq":0}}""");
        Assert.True((await again.ReadAsync("welcome")).GetProperty("resumed").GetBoolean());
        await AssertToldAsync(again);
        opened.Link.TrySend(session!, Events.Make("e-1"));
        Assert.Equal(2, (await again.ReadAsync("event")).GetProperty("seq").GetInt64());
        await again.AckAsync(2);
        Assert.Equal("e-1", await host.Hub.NextAckedAsync());
    }

    // Over a link only its age travels: the time may be off by what the way takes.
    private static async Task AssertToldAsync(SocketClient client)
    {
        var missed = await client.ReadAsync("missed");
        Assert.Equal(("1", "3"), (missed.GetProperty("seq").GetRawText(), missed.GetProperty("count").GetRawText()));
        Assert.InRange(missed.GetProperty("since").GetInt64(), 1_790_000_000_000 - 30_000, 1_790_000_000_000 + 30_000);
        Assert.Equal(["type", "seq", "count", "since"], missed.EnumerateObject().Select(static member => member.Name));
    }

    [Fact]
    public async Task TellMissed_ClientOfBefore_IsNotTold()
    {
        await using var host = await StartAsync();
        var (client, opened) = await host.OpenAsync();
        using var _ = client;
        Assert.Equal(OverBytes, opened.Link.TryTellMissed(opened.Key.Session, new MissedEvents(3, 1_790_000_000_000)));
        opened.Link.TrySend(opened.Key.Session, Events.Make("e-1"));
        Assert.Equal(1, (await client.ReadAsync("event")).GetProperty("seq").GetInt64());
    }

    [Fact]
    public async Task Resume_ByAClientThatKnowsAnswers_SaysWhichTopicsTheTokenLeft()
    {
        await using var host = await StartAsync();
        var (client, opened) = await host.OpenAsync(token: "room-token"); // a client of before
        await client.SendAsync("""{"type":"join","topics":["room-7","team/red"]}""");
        Assert.Equal("joined room-7 team/red", await host.Hub.NextSaidAsync());
        client.Lose();
        await host.Hub.NextDetachedAsync();

        using var again = await SocketClient.ConnectAsync(host.Port);
        await again.SendAsync($$$"""{"type":"hello","token":"hall-token","device":"tab-1","knows":["joined"],"resume":{"session":"{{{opened.Key.Session}}}","seq":0}}""");
        var welcome = await again.ReadAsync("welcome");
        Assert.Equal((true, """["room-7"]"""), (welcome.GetProperty("resumed").GetBoolean(), welcome.GetProperty("topics").GetRawText()));
    }

    [Fact]
    public async Task Resume_KeepsTheTopicsThatTheNewTokenAllows()
    {
        await using var host = await StartAsync(o => o.MaxTopics = 2);
        var (client, opened) = await host.OpenAsync(token: "room-token");
        await client.SendAsync("""{"type":"join","topics":["room-7","team/red"]}""");
        Assert.Equal("joined room-7 team/red", await host.Hub.NextSaidAsync());
        client.Lose();
        await host.Hub.NextDetachedAsync();

        using var again = await SocketClient.ConnectAsync(host.Port);
        Assert.True((await again.ResumeAsync(opened.Key.Session, 0, token: "hall-token")).Resumed);
        Assert.Equal("left team/red", await host.Hub.NextSaidAsync());
        await again.SendAsync("""{"type":"join","topics":["room-7"]}"""); // it is in it
        await again.SendAsync("""{"type":"join","topics":["team/red"]}""");
        Assert.Equal("not-allowed", (await again.ReadAsync("error")).GetProperty("code").GetString());
        await again.SendAsync("""{"type":"leave","topics":["room-7"]}""");
        Assert.Equal("left room-7", await host.Hub.NextSaidAsync());
    }

    [Fact]
    public async Task Send_TakenByTheHub_ArrivesByteForByteInOrder()
    {
        await using var host = await StartAsync();
        var (client, _) = await host.OpenAsync();
        using var __ = client;
        for (var i = 0; i < 50; i++)
        {
            await client.SendAsync($$"""{"type":"send", "to":{"topic":"room-7"},"data":{"ü":{{i}} } }""");
        }

        for (var i = 0; i < 50; i++)
        {
            Assert.Equal($$"""send by ada: {"type":"send", "to":{"topic":"room-7"},"data":{"ü":{{i}} } }""", await host.Hub.NextSaidAsync());
        }
    }

    [Fact]
    public async Task Send_RefusedByTheHub_IsToldAndTheSessionGoesOn()
    {
        await using var host = await StartAsync();
        host.Hub.OnSend = _ => new SendRefusal("not-allowed", "The app does not let clients publish.");
        var (client, opened) = await host.OpenAsync();
        using var _ = client;
        await client.SendAsync("""{"type":"send","to":{"topic":"room-7"},"data":1}""");
        var error = await client.ReadAsync("error");
        Assert.Equal("not-allowed", error.GetProperty("code").GetString());
        Assert.Equal("The app does not let clients publish.", error.GetProperty("message").GetString());
        opened.Link.TrySend(opened.Key.Session, Events.Make("still-open"));
        await client.ReadAsync("event");
    }

    [Fact]
    public async Task Send_TooMany_IsOverloadedAndTheSessionCanBeResumed()
    {
        await using var host = await StartAsync(o => (o.MessagesPerSecond, o.MessageBurst) = (10, 20));
        var (client, opened) = await host.OpenAsync();
        using var _ = client;
        for (var i = 0; i < 40; i++)
        {
            await client.SendAsync("""{"type":"send","to":{"topic":"room-7"},"data":1}""");
        }

        Assert.Equal((4005, "rate-limited"), await client.ReadCloseAsync());
        Assert.Equal(opened.Key, await host.Hub.NextDetachedAsync());
    }
}
