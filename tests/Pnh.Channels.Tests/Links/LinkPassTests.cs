using System.Net.WebSockets;
using Microsoft.Extensions.Logging.Abstractions;
using Pnh.Channels.Links;
using Pnh.Channels.Links.Protocol;
using Pnh.Channels.Tests.WebSockets;
using Pnh.Core.Sessions;

namespace Pnh.Channels.Tests.Links;

/// <summary>A link with the right key that speaks for sessions which are not its own.</summary>
public sealed class LinkPassTests
{
    private static readonly SessionKey Key = new("demo", "ada", "tab-1", "s-1");

    /// <summary>Passes that are none of the session: nothing, one of another session, device or user, one that was changed, one of another cluster.</summary>
    public static TheoryData<string> Forged => ["none", "session", "device", "user", "changed", "topics", "cluster", "over"];

    [Theory]
    [MemberData(nameof(Forged))]
    public async Task Opened_PassOfNoSuchSession_IsNotTakenAndCounted(string forgery)
    {
        await using var scene = await LinkScene.StartAsync();
        var (socket, _, _) = await scene.GreetAsync(LinkScene.Edge());
        using (socket)
        {
            await LinkScene.SendAsync(socket, output => Say(output, LinkItemKind.Opened, members => members.Number(1).Number(7).Key(Key).Bytes(Forge(forgery)).State(SessionState.Active).Age(TimeSpan.Zero)));
            var answer = new LinkReader((await ReadAsync(socket, LinkItemKind.Answer)).Span);
            Assert.Equal(7, answer.Number());
            Assert.True(LinkAnswer.Read(answer).HasFailed);
            await OpenAnotherAsync(scene, socket);
        }

        Assert.Equal(["unproven-session"], scene.Refusals);
        Assert.Equal(1, scene.Hub.OpenedCount);
    }

    /// <summary>It takes no user's session: the client whose session it would be goes on elsewhere, and the session that was said is closed so that its client comes back with its token.</summary>
    [Theory]
    [MemberData(nameof(Forged))]
    public async Task Reopen_PassOfNoSuchSession_IsClosedAndCounted(string forgery)
    {
        await using var scene = await LinkScene.StartAsync();
        var (socket, _, _) = await scene.GreetAsync(LinkScene.Edge());
        using (socket)
        {
            await LinkScene.SendAsync(socket, output => Say(
                output, LinkItemKind.Reopen, members => members.Number(1).Key(Key).Bytes(Forge(forgery)).State(SessionState.Active).Flag(false).Age(TimeSpan.Zero).Texts(["room"]).Texts(["e-1"])));
            var close = new LinkReader((await ReadAsync(socket, LinkItemKind.Close)).Span);
            Assert.Equal(1, close.Number());
            Assert.Equal(SessionClose.HubError, close.Close());
            await LinkScene.SendAsync(socket, static output => Say(output, LinkItemKind.Closed, static members => members.Number(1)));
            await OpenAnotherAsync(scene, socket);
        }

        Assert.Equal(["unproven-session"], scene.Refusals);
        Assert.Empty(scene.Hub.Reopened);
        Assert.Equal(0, scene.Hub.ClosedCount);
    }

    [Theory]
    [MemberData(nameof(Forged))]
    public async Task ReportedAndClaim_PassOfNoSuchSession_ChangeNothing(string forgery)
    {
        await using var scene = await LinkScene.StartAsync();
        scene.Hub.OnAcked = static id => Assert.Fail($"{id} was acknowledged");
        var (socket, _, _) = await scene.GreetAsync(LinkScene.Edge());
        using (socket)
        {
            await LinkScene.SendAsync(socket, output => Say(output, LinkItemKind.Reported, members => members.Key(Key).Bytes(Forge(forgery, days: 2)).Text("e-1").OptionalText(null).OptionalText(null)));
            await LinkScene.SendAsync(socket, output => Say(output, LinkItemKind.Reported, members => members.Key(Key).Bytes(Forge(forgery, days: 2)).Text("e-2").OptionalText("answered").OptionalText("yes")));
            await LinkScene.SendAsync(socket, output => Say(output, LinkItemKind.Claim, members => members.Number(8).Key(Key).Bytes(Forge(forgery)).Number(0).Age(TimeSpan.Zero)));
            var claimed = new LinkReader((await ReadAsync(socket, LinkItemKind.Claimed)).Span);
            Assert.Equal((8, false), (claimed.Number(), claimed.Flag()));
            Assert.Equal(2, Number(await ReadAsync(socket, LinkItemKind.Noted))); // its edge says them no more
        }

        Assert.Equal(0, scene.Hub.Said);
        Assert.Equal(["unproven-session", "unproven-session", "unproven-session"], scene.Refusals);
    }

    [Theory]
    [InlineData("ada-token", null)]
    [InlineData("bob-token", "other-user")]
    [InlineData("bound-token", "other-user")]
    [InlineData("stolen", "unknown")]
    [InlineData(null, "missing")]
    public async Task Admit_Token_MakesThePassOfItsOwnClientAlone(string? token, string? refusal)
    {
        await using var scene = await LinkScene.StartAsync();
        var (socket, _, _) = await scene.GreetAsync(LinkScene.Edge());
        using (socket)
        {
            await LinkScene.SendAsync(socket, output => Say(output, LinkItemKind.Admit, members =>
            {
                members.Number(9).Key(Key).OptionalText(token);
                if (token is null)
                {
                    members.Texts([]).Time(TimeProvider.System.GetUtcNow().AddHours(1));
                }
            }));
            var admitted = new LinkReader((await ReadAsync(socket, LinkItemKind.Admitted)).Span);
            Assert.Equal(9, admitted.Number());
            Assert.Equal(refusal, admitted.OptionalText());
            var pass = admitted.Bytes().ToArray();
            Assert.Equal(refusal is null ? "ada" : null, LinkScene.PassesOf(scene.Hub).Read(Key, pass, TimeSpan.Zero)?.User);
        }
    }

    /// <summary>Over plain HTTP between machines no token goes: the edge says whom it speaks for, and a hub whose owner allows it believes that.</summary>
    [Theory]
    [InlineData(false, false, "unknown")]
    [InlineData(false, true, "unknown")]
    [InlineData(true, false, "missing")]
    [InlineData(true, true, null)]
    public async Task Admit_PlainLink_ShowsNoToken(bool isPlain, bool takesWord, string? refusal)
    {
        await using var scene = await LinkScene.StartAsync();
        scene.TakesWord = takesWord;
        var sessions = LinkScene.Sessions();
        await using var dialler = await scene.LinkAsync(sessions);
        sessions.Links[0].IsPlain = isPlain;

        var pass = await sessions.AdmitAsync(Key, new ClientCredential(RecordingHub.Identity("ada") with { Topics = ["room"] }, "of another issuer"), CancellationToken.None);

        Assert.Equal(refusal, pass.Refusal);
        Assert.Equal(refusal is null ? ["room"] : null, LinkScene.PassesOf(scene.Hub).Read(Key, pass.Proof.Span, TimeSpan.Zero)?.Topics);
    }

    /// <summary>A session is in the topics that its client's token allows, and in no other, whatever its edge says.</summary>
    [Fact]
    public async Task JoinedAndReopen_TopicThatTheTokenDoesNotAllow_AreLeftOut()
    {
        await using var scene = await LinkScene.StartAsync();
        var pass = LinkScene.PassesOf(scene.Hub).Admit(Key, "room-token").Proof;
        var (socket, _, _) = await scene.GreetAsync(LinkScene.Edge());
        using (socket)
        {
            await LinkScene.SendAsync(socket, output =>
            {
                Say(output, LinkItemKind.Reopen, members => members.Number(1).Key(Key).Bytes(pass.Span).State(SessionState.Active).Flag(false).Age(TimeSpan.Zero).Texts(["secret", "team/a"]).Texts([]));
                Say(output, LinkItemKind.Joined, static members => members.Number(1).Texts(["other", "room-7"]));
                Say(output, LinkItemKind.Publish, static members => members.Number(1).Number(3).Bytes("{}"u8));
            });
            Assert.Equal("joined room-7", await scene.Hub.NextSaidAsync());
            Assert.Equal("send by ada: {}", await scene.Hub.NextSaidAsync());
        }

        Assert.Equal(["team/a"], scene.Hub.Reopened.Single().Topics);
    }

    /// <summary>An edge of a version without passes may show a key without a name alone: without such a key in its file a hub links none that proves nothing.</summary>
    [Theory]
    [InlineData(null, LinkHello.CarriesFrames - 1, true)]
    [InlineData("west", LinkHello.CarriesFrames - 1, false)]
    [InlineData("west", LinkHello.CarriesFrames, true)]
    public async Task Hello_KeyWithAName_IsForEdgesThatProveTheirSessions(string? keyName, int version, bool isLinked)
    {
        await using var scene = await LinkScene.StartAsync();
        scene.KeyName = keyName;
        var (socket, kind, _) = await scene.GreetAsync(LinkScene.Edge(version: version));
        socket.Dispose();
        Assert.Equal(isLinked ? LinkItemKind.Hello : LinkItemKind.NotLinked, kind);
    }

    /// <summary>An edge closes a session with its token: one that does not publishes nothing for it.</summary>
    [Theory]
    [InlineData(-9, false)]
    [InlineData(-11, true)]
    public async Task Publish_TokenIsOver_IsRefusedAfterAWhile(int minutes, bool isRefused)
    {
        var hub = new RecordingHub();
        var link = new HubLink(hub, LinkScene.PassesOf(hub), TimeProvider.System, NullLogger.Instance);
        var session = new HubSession(link, 1, Key) { Client = RecordingHub.Identity("ada", lifetime: TimeSpan.FromMinutes(minutes)) };
        var publish = new LinkWriter();
        publish.Begin(LinkItemKind.Publish).Number(3).Bytes("{}"u8).End();

        session.Receive(LinkItemKind.Publish, publish.Written[LinkReader.HeadBytes..]);

        var batch = await link.Output.TakeAsync();
        Assert.True(LinkReader.TryTake(ref batch, out var kind, out var members));
        var answer = new LinkReader(members.Span);
        Assert.Equal((LinkItemKind.Answer, 3), (kind, answer.Number()));
        Assert.Equal(isRefused ? "token-expired" : null, LinkAnswer.Read(answer).SendRefusal?.Code);
        Assert.Equal(isRefused ? 0 : 1, hub.Said);
    }

    private static byte[] Forge(string forgery, int days = 0)
    {
        var pass = LinkScene.PassOf(Key).ToArray();
        switch (forgery)
        {
            case "session":
                return LinkScene.PassOf(Key with { Session = "s-2" }).ToArray();
            case "device":
                return LinkScene.PassOf(Key with { Device = "tab-2" }).ToArray();
            case "user":
                return LinkScene.PassOf(Key with { User = "bob" }).ToArray();
            case "changed":
                pass[0] ^= 1;
                return pass;
            case "topics":
                pass[^1] ^= 1;
                return pass;
            case "cluster":
                return new SessionPasses([.. Enumerable.Repeat((byte)1, SessionPasses.KeyBytes)], new RecordingHub(), TimeProvider.System).Admit(Key, RecordingHub.Identity("ada")).Proof.ToArray();
            case "over":
                return LinkScene.PassOf(Key, lifetime: TimeSpan.FromMinutes(-11) - TimeSpan.FromDays(days)).ToArray();
            default:
                return [];
        }
    }

    // The link goes on.
    private static async Task OpenAnotherAsync(LinkScene scene, ClientWebSocket socket)
    {
        var other = Key with { Device = "tab-2", Session = "s-2" };
        await LinkScene.SendAsync(socket, output => Say(output, LinkItemKind.Opened, members => members.Number(2).Number(8).Key(other).Bytes(LinkScene.PassOf(other).Span).State(SessionState.Active).Age(TimeSpan.Zero)));
        Assert.Equal(other, (await scene.Hub.NextOpenedAsync()).Key);
    }

    private static void Say(LinkQueue output, LinkItemKind kind, Action<LinkWriter> members)
    {
        using var item = output.Begin(kind);
        members(item.Members);
    }

    private static long Number(ReadOnlyMemory<byte> members) => new LinkReader(members.Span).Number();

    // The members of the next item of this kind.
    private static async Task<ReadOnlyMemory<byte>> ReadAsync(ClientWebSocket socket, LinkItemKind expected)
    {
        while (await LinkScene.ReadAsync(socket) is { Length: > 0 } bytes)
        {
            ReadOnlyMemory<byte> batch = bytes;
            while (LinkReader.TryTake(ref batch, out var kind, out var members))
            {
                if (kind == expected)
                {
                    return members;
                }
            }
        }

        throw new InvalidOperationException($"the hub said no {expected}");
    }
}
