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

    [Fact]
    public async Task Run_HandlerFails_TheEventComesAgainThreeTimesAtMost()
    {
        await using var scene = await SessionScene.StartAsync();
        var failing = new ConcurrentDictionary<string, int> { ["e-1"] = 2, ["e-3"] = 3 };
        var running = scene.RunAsync(scene.Session(id => failing.AddOrUpdate(id, -1, static (_, left) => left - 1) >= 0), out _);
        for (var n = 0; n < 6; n++)
        {
            await scene.PostAsync($"e-{n}");
        }

        await TestHub.EventuallyAsync(() => scene.Handled.LastOrDefault(), static id => id == "e-5");
        Assert.Equal(["e-0", "e-1", "e-2", "e-4", "e-5"], scene.Handled);
        Assert.Equal(5, scene.Errors.OfType<NotSupportedException>().Count());
        await scene.StopAsync(running);
    }

    [Fact]
    public async Task Run_NewerSessionOfTheDevice_Ends()
    {
        await using var scene = await SessionScene.StartAsync();
        var older = scene.RunAsync(scene.Session(), out _);
        await scene.OpenAsync();
        var newer = scene.RunAsync(scene.Session(), out _);
        Assert.Equal(4500, (await older.WaitAsync(TimeSpan.FromSeconds(30))).Code);
        await scene.StopAsync(newer);
    }

    [Fact]
    public async Task Run_TokensExpired_AsksForAnother()
    {
        await using var scene = await SessionScene.StartAsync();
        var asked = 0;
        var running = scene.RunAsync(scene.Session(token: () => scene.Hub.OldToken("lin", ++asked <= 2 ? TimeSpan.FromDays(2) : TimeSpan.Zero)), out _);
        await scene.OpenAsync();
        Assert.Equal(3, asked);
        await scene.StopAsync(running);
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
