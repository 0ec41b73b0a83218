using System.Collections.Concurrent;
using Pnh.Api.Tests.EndToEnd;
using Pnh.Client.Events;
using Pnh.Client.Reports;
using Pnh.Client.Sockets;

namespace Pnh.Api.Tests.ClientLibrary;

/// <summary>The client library of devices, against the real hub.</summary>
public sealed class PnhSessionTests
{
    [Fact]
    public async Task Run_ConnectionBreaksAgainAndAgain_HandlesEachEventOnceInOrder()
    {
        await using var scene = await SessionScene.StartAsync();
        var running = scene.RunAsync(scene.Session(), out _);
        for (var n = 0; n < 200; n++)
        {
            await scene.PostAsync($"e-{n}");
            if (n % 50 == 25)
            {
                scene.Wire.Cut();
            }
        }

        await Task.WhenAny(running, TestHub.EventuallyAsync(() => scene.Handled.Count, static count => count >= 200));
        Assert.True(!running.IsCompleted && scene.Handled.Count == 200, $"{scene.Handled.Count} handled: {string.Join("; ", scene.Connections)}");
        Assert.Equal(Enumerable.Range(0, 200).Select(static n => $"e-{n}"), scene.Handled);
        Assert.Contains(scene.Connections, static one => one is { Status: PnhStatus.Open, Resumed: true });
        await scene.StopAsync(running);
        Assert.Equal(PnhStatus.Closed, scene.Connections.Last().Status);
    }

    /// <summary>Over the same connection, and what is behind it waits.</summary>
    [Fact]
    public async Task Run_HandlerFails_IsCalledAgainThreeTimesAtMost()
    {
        await using var scene = await SessionScene.StartAsync();
        var failing = new ConcurrentDictionary<string, int> { ["e-1"] = 2, ["e-3"] = 3 };
        var asked = 0;
        var session = scene.Session(
            id => failing.AddOrUpdate(id, -1, static (_, left) => left - 1) >= 0, () => scene.Hub.OldToken("lin", TimeSpan.FromSeconds(asked++)));
        var running = scene.RunAsync(session, out _);
        for (var n = 0; n < 6; n++)
        {
            await scene.PostAsync($"e-{n}");
        }

        await TestHub.EventuallyAsync(() => scene.Handled.LastOrDefault(), static id => id == "e-5");
        Assert.Equal(["e-0", "e-1", "e-2", "e-4", "e-5"], scene.Handled);
        Assert.Equal(5, scene.Errors.OfType<NotSupportedException>().Count());
        Assert.Equal((1, 1), (scene.Wire.Count, asked));
        await scene.StopAsync(running);
    }

    [Fact]
    public async Task Run_CallbacksThrow_GoesOn()
    {
        await using var scene = await SessionScene.StartAsync();
        var session = scene.Session(
            connection: static _ => throw new NotSupportedException("connection"), error: static _ => throw new NotSupportedException("error"), withdraw: static _ => throw new NotSupportedException("withdraw"));
        var running = scene.RunAsync(session, out _);
        await scene.PostAsync("e-0");
        await TestHub.EventuallyAsync(() => scene.Handled.Count, static count => count == 1);
        Assert.Equal(200, (await scene.Hub.SendAsync("POST", "/v1/events/e-0/withdraw", "{}")).Status);
        await TestHub.EventuallyAsync(() => scene.Withdrawn.Count, static count => count == 1);
        await scene.PostAsync("e-1");
        await TestHub.EventuallyAsync(() => scene.Handled.Count, static count => count == 2);
        Assert.Contains(scene.Errors, static fault => fault.Message == "withdraw");
        await scene.StopAsync(running);
    }

    [Fact]
    public async Task Run_HandlerHangsAsTheConnectionBreaks_ComesBackAndHandlesItOnce()
    {
        await using var scene = await SessionScene.StartAsync();
        var hanging = new TaskCompletionSource();
        var running = scene.RunAsync(scene.Session(handles: id => id == "e-0" ? hanging.Task : Task.CompletedTask), out _);
        await scene.PostAsync("e-0");
        await scene.PostAsync("e-1");
        await scene.OpenAsync();
        scene.Wire.Cut();
        await TestHub.EventuallyAsync(() => scene.Connections.Count(static one => one.Status == PnhStatus.Open), static opened => opened == 2);
        hanging.SetResult();
        await scene.PostAsync("e-2");
        await TestHub.EventuallyAsync(() => scene.Handled.Count, static count => count >= 3);
        Assert.Equal(["e-0", "e-1", "e-2"], scene.Handled);
        await scene.StopAsync(running);
    }

    /// <summary>A handler waits for a person: calls and withdrawals do not wait for it, and what was taken back meanwhile is never given.</summary>
    [Fact]
    public async Task Run_HandlerWaits_CallsAndWithdrawalsGoBeside()
    {
        await using var scene = await SessionScene.StartAsync();
        var person = new TaskCompletionSource();
        var running = scene.RunAsync(scene.Session(handles: id => id == "e-0" ? person.Task : Task.CompletedTask), out _);
        await scene.OpenAsync();
        await scene.PostAsync("e-0");
        await scene.PostAsync("e-1");
        Assert.Equal(202, (await scene.Hub.SendAsync("POST", "/v1/events", """{"id":"call","to":{"user":"lin"},"class":"call"}""")).Status);
        await TestHub.EventuallyAsync(() => scene.Handled.ToArray(), static handled => handled.SequenceEqual(["call"]));
        Assert.Equal(200, (await scene.Hub.SendAsync("POST", "/v1/events/e-1/withdraw", "{}")).Status);
        await TestHub.EventuallyAsync(() => scene.Withdrawn.FirstOrDefault()?.Id, static id => id == "e-1");
        while (!await IsAckedAsync(scene, "call"))
        {
            await Task.Delay(20);
        }

        Assert.False(await IsAckedAsync(scene, "e-0"));
        person.SetResult();
        await scene.PostAsync("e-2");
        await TestHub.EventuallyAsync(() => scene.Handled.Count, static count => count >= 3);
        Assert.Equal(["call", "e-0", "e-2"], scene.Handled);
        await scene.StopAsync(running);

        static async Task<bool> IsAckedAsync(SessionScene scene, string id) => (await scene.Hub.SendAsync("GET", $"/v1/events/{id}")).Body.Contains("\"acked\"", StringComparison.Ordinal);
    }

    [Fact]
    public async Task Answer_OverADeadConnection_IsSaidAgainUntilTheHubHasIt()
    {
        await using var scene = await SessionScene.StartAsync();
        var running = scene.RunAsync(scene.Session(), out var session);
        await scene.PostAsync("e-0");
        await TestHub.EventuallyAsync(() => scene.Handled.Count, static count => count == 1);
        scene.Wire.Cut();
        Assert.True(await session.AnswerAsync("e-0", "accepted").AsTask().WaitAsync(TimeSpan.FromSeconds(30)));
        Assert.Contains("answered: accepted", (await scene.Hub.SendAsync("GET", "/v1/events/e-0")).Body, StringComparison.Ordinal);
        await scene.StopAsync(running);
    }

    [Fact]
    public async Task ExpectCalls_OnAnOpenSession_HearsBeatsEachTenSeconds()
    {
        await using var scene = await SessionScene.StartAsync();
        var running = scene.RunAsync(scene.Session(), out var session);
        await scene.OpenAsync();
        await session.ExpectCallsAsync(areExpected: true);
        scene.Wire.IsHeld = true; // nothing passes, and neither end hears of it
        Assert.Equal("silent", await TestHub.EventuallyAsync(() => scene.Reasons.FirstOrDefault(), static reason => reason is not null, TimeSpan.FromSeconds(25)));
        scene.Wire.IsHeld = false;
        await scene.StopAsync(running);
    }

    /// <summary>What a back-end that is being deployed answers is not shown to the hub, and not final.</summary>
    [Fact]
    public async Task Run_NoToken_AsksAgainAndDialsWithOneAlone()
    {
        await using var scene = await SessionScene.StartAsync();
        var answers = new Queue<string?>(["<html>502 Bad Gateway</html>", "", "{}", "a.b.c", null]);
        var running = scene.RunAsync(scene.Session(token: () => answers.TryDequeue(out var answer) ? answer ?? throw new NotSupportedException("away") : scene.Hub.OldToken("lin", TimeSpan.Zero) + "\n"), out _);
        await scene.OpenAsync();
        Assert.Equal(Enumerable.Repeat("no-token", 5), scene.Reasons);
        Assert.Equal(1, scene.Wire.Count);
        await scene.StopAsync(running);
    }

    [Fact]
    public async Task Run_KeysAreReplaced_AsksForAnother()
    {
        await using var scene = await SessionScene.StartAsync();
        var asked = 0;
        var good = scene.Hub.OldToken("lin", TimeSpan.Zero);
        var running = scene.RunAsync(scene.Session(token: () => asked++ == 0 ? good[..^8] + "AAAAAAAA" : good), out _);
        await scene.OpenAsync();
        Assert.Equal(["bad-token"], scene.Reasons);
        Assert.Equal(4007, scene.Connections.First(static one => one.Status == PnhStatus.Waiting).Code);
        await scene.StopAsync(running);
    }

    /// <summary>A welcome alone does not end the waits that grow.</summary>
    [Fact]
    public async Task Run_SessionsBreakAtOnce_TriesEverLater()
    {
        await using var scene = await SessionScene.StartAsync();
        var running = scene.RunAsync(scene.Session(connection: now => Cut(now, scene)), out _);
        await TestHub.EventuallyAsync(() => scene.Connections.Count(static one => one.Status == PnhStatus.Waiting), static waits => waits >= 6);
        var waits = scene.Connections.Where(static one => one.Status == PnhStatus.Waiting).Select(static one => one.Wait!.Value.TotalSeconds).ToList();
        Assert.True(waits.Max() > 1, string.Join(", ", waits)); // 0.5 s at most, were each the first
        await scene.StopAsync(running);

        static void Cut(PnhConnection now, SessionScene scene)
        {
            if (now.Status == PnhStatus.Open)
            {
                scene.Wire.Cut();
            }
        }
    }

    /// <summary>A network that takes the dial and lets nothing pass.</summary>
    [Fact]
    public async Task Run_DialIsSwallowed_IsGivenUpAfterFifteenSeconds()
    {
        await using var scene = await SessionScene.StartAsync();
        using var hole = new System.Net.Sockets.TcpListener(System.Net.IPAddress.Loopback, 0);
        hole.Start();
        var running = scene.RunAsync(scene.Session(address: new Uri($"ws://{hole.LocalEndpoint}/v1/socket")), out _);
        Assert.Equal("no-answer", await TestHub.EventuallyAsync(() => scene.Reasons.FirstOrDefault(), static reason => reason is not null, TimeSpan.FromSeconds(30)));
        await scene.StopAsync(running);
    }

    [Fact]
    public async Task Run_OtherDevice_EndsAndSaysWhereToRead()
    {
        await using var scene = await SessionScene.StartAsync();
        var end = await scene.RunAsync(scene.Session(token: () => scene.Hub.OldToken("lin", TimeSpan.Zero, "phone")), out _).WaitAsync(TimeSpan.FromSeconds(30));
        Assert.Equal((4501, "other-device", "/docs/clients#refused"), (end.Code, end.Reason, end.Help?.PathAndQuery + end.Help?.Fragment));
    }

    [Fact]
    public async Task Run_TokenOfAnotherUser_Ends()
    {
        await using var scene = await SessionScene.StartAsync();
        var user = "lin";
        var running = scene.RunAsync(scene.Session(token: () => scene.Hub.OldToken(user, TimeSpan.FromMinutes(61))), out _); // over, and taken for a minute
        await TestHub.EventuallyAsync(() => scene.Connections.LastOrDefault()?.Status, static status => status == PnhStatus.Waiting);
        user = "eve";
        Assert.Equal((0, "other-user"), await EndAsync(running));

        static async Task<(int, string)> EndAsync(Task<PnhEnd> running) => await running.WaitAsync(TimeSpan.FromSeconds(30)) is var end ? (end.Code, end.Reason) : default;
    }

    [Fact]
    public async Task Run_NewerSessionOfTheDevice_Ends()
    {
        await using var scene = await SessionScene.StartAsync();
        var older = scene.RunAsync(scene.Session(), out _);
        await scene.OpenAsync();
        var newer = scene.RunAsync(scene.Session(), out _);
        var end = await older.WaitAsync(TimeSpan.FromSeconds(30));
        Assert.Equal((4500, "replaced", "replaced by a newer session"), (end.Code, end.Reason, end.Why));
        await scene.StopAsync(newer);
    }

    [Fact]
    public async Task Run_TokensExpired_AsksForAnother()
    {
        await using var scene = await SessionScene.StartAsync();
        var asked = 0;
        var running = scene.RunAsync(scene.Session(token: () => scene.Hub.OldToken("lin", ++asked <= 2 ? TimeSpan.FromDays(2) : TimeSpan.Zero)), out _);
        await scene.OpenAsync();
        scene.Wire.Cut();
        await TestHub.EventuallyAsync(() => scene.Connections.Count(static one => one.Status == PnhStatus.Open), static opened => opened == 2);
        Assert.Equal(["token-expired", "token-expired", "lost"], scene.Reasons);
        Assert.Equal(3, asked); // once in its life
        await scene.StopAsync(running);
    }

    /// <summary>What the hub confirms counts, topic by topic, over breaks and with another token.</summary>
    [Fact]
    public async Task Join_SomeAreRefused_TheOthersAreJoinedAndThoseAreTold()
    {
        await using var scene = await SessionScene.StartAsync();
        var topics = new[] { "room-*" };
        var session = scene.Session(token: () => scene.Hub.OldToken("lin", TimeSpan.Zero, null, topics));
        var running = scene.RunAsync(session, out _);
        string[] rooms = [.. Enumerable.Range(0, 103).Select(static n => $"room-{n}".PadRight(128, '–'))];
        await session.JoinAsync(["hall", .. rooms]);
        await TestHub.EventuallyAsync(() => session.Joined.Count, static count => count == 100);
        await TestHub.EventuallyAsync(() => scene.Errors.Count, static count => count == 2);
        Assert.Equal(["hall"], Refused("not-allowed"));
        Assert.Equal(3, Refused("too-many-topics").Count);

        scene.Errors.Clear();
        await session.LeaveAsync(rooms[..50]);
        await TestHub.EventuallyAsync(() => session.Joined.Count, static count => count == 53);
        topics = ["hall"];
        scene.Wire.Cut();
        await TestHub.EventuallyAsync(() => session.Joined, static joined => joined.SequenceEqual(["hall"]));
        Assert.Equal(rooms[50..].Order(StringComparer.Ordinal), (await TestHub.EventuallyAsync(() => Refused("not-allowed"), static all => all.Count == 53)).Order(StringComparer.Ordinal));
        await scene.StopAsync(running);

        List<string> Refused(string code) => [.. scene.Errors.OfType<PnhException>().Where(one => one.Code == code).SelectMany(static one => one.Topics)];
    }

    [Fact]
    public async Task Join_AtAnOlderHub_IsAllOrNoneAndSaysSo()
    {
        await using var scene = await SessionScene.StartAsync();
        await using var older = new OlderHub(scene.Hub.Host.PublicAddress);
        older.Start();
        var session = scene.Session(address: older.Address);
        var running = scene.RunAsync(session, out _);
        await session.JoinAsync("room");
        await scene.OpenAsync();
        await session.JoinAsync("hall");
        var refusal = await TestHub.EventuallyAsync(() => scene.Errors.OfType<PnhException>().FirstOrDefault(), static one => one is not null);
        Assert.Equal(("not-allowed", 0), (refusal!.Code, refusal.Topics.Count));
        Assert.Equal(202, (await scene.Hub.SendAsync("POST", "/v1/events", """{"id":"r-1","to":{"topic":"room"},"class":"message"}""")).Status);
        await TestHub.EventuallyAsync(() => scene.Handled.Contains("r-1"), static came => came);
        await scene.StopAsync(running);
    }

    [Theory]
    [InlineData("")]
    [InlineData("..")]
    [InlineData("line\nline")]
    [InlineData("\ud800")]
    public async Task Join_NoName_IsThrownAndNotSaid(string topic)
    {
        var session = new PnhSession(new PnhSessionOptions { Address = new Uri("ws://localhost/"), Token = static _ => ValueTask.FromResult(""), Device = "tab", OnEvent = static (_, _) => ValueTask.CompletedTask });
        await Assert.ThrowsAsync<ArgumentException>(() => session.JoinAsync("room", topic).AsTask());
        await Assert.ThrowsAsync<ArgumentException>(() => session.JoinAsync(new string('n', 129)).AsTask());
    }

    /// <summary>Told once, though the connection breaks before the ack of what came first, and to a new session alone.</summary>
    [Fact]
    public async Task Run_EventsExpiredMeanwhile_AreToldOnce()
    {
        await using var scene = await SessionScene.StartAsync();
        var since = TimeProvider.System.GetUtcNow().AddSeconds(-5);
        await scene.PostAsync("over-1", ttl: 1);
        await scene.PostAsync("over-2", ttl: 1);
        await Task.Delay(TimeSpan.FromSeconds(2.5));
        await scene.PostAsync("alive");
        var handler = new TaskCompletionSource();
        var running = scene.RunAsync(scene.Session(handles: _ => handler.Task), out var _);
        await TestHub.EventuallyAsync(() => scene.Missed.Count, static count => count == 1);
        scene.Wire.Cut();
        await TestHub.EventuallyAsync(() => scene.Connections.Count(static one => one.Status == PnhStatus.Open), static opened => opened == 2);
        handler.SetResult();
        await TestHub.EventuallyAsync(() => scene.Handled.Count, static count => count == 1);
        await scene.StopAsync(running);
        var told = Assert.Single(scene.Missed);
        Assert.Equal(2, told.Count);
        Assert.InRange(told.Since, since, since.AddSeconds(60));
    }

    [Fact]
    public async Task Run_TopicsAnswersAndWithdrawals_GoBothWays()
    {
        await using var scene = await SessionScene.StartAsync();
        var running = scene.RunAsync(scene.Session(), out var session);
        await session.JoinAsync("room");
        await scene.OpenAsync();
        await TestHub.EventuallyAsync(
            () =>
            {
                _ = scene.Hub.SendAsync("POST", "/v1/events", """{"to":{"topic":"room"},"class":"transient","data":"hello"}""");
                return scene.Handled.Count;
            },
            static count => count > 0);

        await scene.PostAsync("call-1");
        await TestHub.EventuallyAsync(() => scene.Handled.Contains("call-1"), static came => came);
        Assert.Equal(200, (await scene.Hub.SendAsync("POST", "/v1/events/call-1/withdraw", """{"reason":"cancelled"}""")).Status);
        Assert.Equal(new PnhWithdrawal("call-1", "cancelled"), await TestHub.EventuallyAsync(() => scene.Withdrawn.FirstOrDefault(), static one => one is not null));

        Assert.True(await session.SeenAsync("call-1"));
        Assert.True(await session.PublishAsync(PnhTarget.OfTopic("other"), "hi"));
        var refusal = await TestHub.EventuallyAsync(() => scene.Errors.OfType<PnhException>().FirstOrDefault(), static one => one is not null);
        Assert.Equal("not-allowed", refusal!.Code);

        await scene.StopAsync(running);
        Assert.False(await session.SeenAsync("call-1"));
        while (!(await scene.Hub.SendAsync("GET", "/v1/users/lin/presence")).Body.Contains("\"sessions\":[]", StringComparison.Ordinal))
        {
            await Task.Delay(20); // the hub hears of it a moment later
        }
    }
}
