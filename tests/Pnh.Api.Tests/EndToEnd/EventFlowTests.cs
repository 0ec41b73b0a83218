using Pnh.Sandbox.Phones;
using Pnh.Sandbox.Scripts;

namespace Pnh.Api.Tests.EndToEnd;

/// <summary>The main job, on real ports: POST -> plan -> socket, APNs and FCM.</summary>
public sealed class EventFlowTests
{
    private const string Call = """{"id":"call-1","to":{"user":"ada"},"class":"call","data":{"from":"grace"},"notification":{"title":"Grace","body":"is calling"}}""";

    [Fact]
    public async Task Post_CallToDemoUser_RingsOnBothPhonesAndInTheTab()
    {
        await using var hub = await TestHub.StartAsync();
        using var tab = await hub.ConnectAsync("ada", "tab-1");

        var answer = await hub.SendAsync("POST", "/v1/events", Call);

        Assert.Equal(202, answer.Status);
        Assert.Equal("call-1", answer.Json.GetProperty("id").GetString());
        Assert.True(answer.Json.GetProperty("durable").GetBoolean());
        var frame = await tab.ReceiveEventAsync();
        Assert.Equal("call-1", frame.GetProperty("id").GetString());
        Assert.Equal("grace", frame.GetProperty("data").GetProperty("from").GetString());
        var phones = await Phones(hub, shown: 2);
        Assert.All(phones, phone => Assert.Equal("Grace", Assert.Single(phone.LockScreen).Title));
        Assert.All(phones, phone => Assert.Equal("call-1", phone.LockScreen[0].EventId));
    }

    [Fact]
    public async Task Post_MessageAckedByActiveTab_LeavesPhonesSilent()
    {
        await using var hub = await TestHub.StartAsync(configuration: "--Pnh:Classes:message:PushAfter=00:01:00");
        using var tab = await hub.ConnectAsync("ada", "tab-1");

        await hub.SendAsync("POST", "/v1/events", """{"id":"m-1","to":{"user":"ada"},"notification":{"title":"Grace","body":"Hello"}}""");
        await tab.ReceiveEventAsync();

        await TestHub.EventuallyAsync(() => Metric(hub, "pnh_deliveries_total{channel=\"apns\",class=\"message\",status=\"suppressed\"}"), v => v == 1);
        await TestHub.EventuallyAsync(() => Metric(hub, "pnh_deliveries_total{channel=\"fcm\",class=\"message\",status=\"suppressed\"}"), v => v == 1);
        Assert.All(hub.Host.Start.Sandbox!.Phones.All, phone => Assert.Empty(phone.LockScreen));
    }

    [Fact]
    public async Task Post_MessageNotAckedByActiveTab_ReachesPhonesLater()
    {
        await using var hub = await TestHub.StartAsync(configuration: "--Pnh:Classes:message:PushAfter=00:00:01");
        using var tab = await hub.ConnectAsync("ada", "tab-1");

        await hub.SendAsync("POST", "/v1/events", """{"id":"m-2","to":{"user":"ada"},"notification":{"title":"Grace","body":"Hello"}}""");
        await tab.ReceiveEventAsync(ack: false);

        Assert.All(await Phones(hub, shown: 2), phone => Assert.Equal("m-2", phone.LockScreen[0].EventId));
    }

    [Fact]
    public async Task Post_TransientEvent_ReachesSocketsOnlyAndIsNotDurable()
    {
        await using var hub = await TestHub.StartAsync();
        using var tab = await hub.ConnectAsync("ada", "tab-1");

        var answer = await hub.SendAsync("POST", "/v1/events", """{"to":{"user":"ada"},"class":"transient","data":"typing"}""");

        Assert.False(answer.Json.GetProperty("durable").GetBoolean());
        var frame = await tab.ReceiveAsync();
        Assert.Equal("typing", frame.GetProperty("data").GetString());
        Assert.False(frame.TryGetProperty("seq", out _));

        // What comes after it has passed the same lanes.
        await hub.SendAsync("POST", "/v1/events", Call);
        Assert.All(await Phones(hub, shown: 2), phone => Assert.Equal("call-1", Assert.Single(phone.LockScreen).EventId));
        Assert.All(hub.Host.Start.Sandbox!.Phones.All, phone => Assert.Equal(1, phone.Received));
    }

    [Fact]
    public async Task Post_SameIdTwice_GivesTheFirstAnswerAgainAndDeliversOnce()
    {
        await using var hub = await TestHub.StartAsync();

        var first = await hub.SendAsync("POST", "/v1/events", Call);
        var again = await hub.SendAsync("POST", "/v1/events", Call);
        var other = await hub.SendAsync("POST", "/v1/events", Call.Replace("Grace", "Alan", StringComparison.Ordinal));

        Assert.Equal((202, 202, 409), (first.Status, again.Status, other.Status));
        Assert.True(again.Json.GetProperty("duplicate").GetBoolean());
        Assert.Equal("id-conflict", other.Code);
        Assert.All(await Phones(hub, shown: 2), phone => Assert.Equal(1, phone.Received));
    }

    [Fact]
    public async Task Post_AddressThatApnsCallsDead_LeavesTheRegistry()
    {
        await using var hub = await TestHub.StartAsync();
        await hub.SendAsync("PUT", "/v1/users/bob/devices/phone", """{"platform":"ios","apns":{"token":"deadbeef","environment":"sandbox"}}""");
        hub.Host.Start.Sandbox!.Scripts.Set("deadbeef", new Script(ScriptKind.Unregistered));

        await hub.SendAsync("POST", "/v1/events", """{"to":{"user":"bob"},"class":"call","notification":{"title":"Hi"}}""");

        await TestHub.EventuallyAsync(
            () => hub.SendAsync("GET", "/v1/users/bob/devices/phone").AsTaskResult(), device => !device.Json.TryGetProperty("apns", out _));
        Assert.Equal(1, Metric(hub, "pnh_deliveries_total{channel=\"apns\",class=\"call\",status=\"address_dead\"}"));
    }

    [Fact]
    public async Task Restart_WithUnfinishedEvent_DeliversItThen()
    {
        var folder = Directory.CreateTempSubdirectory("pnh-").FullName;
        try
        {
            await using (var hub = await TestHub.StartAsync(folder))
            {
                await hub.SendAsync("PUT", "/v1/users/cleo/devices/tablet", """{"platform":"desktop"}""");
                Assert.Equal(202, (await hub.SendAsync("POST", "/v1/events", """{"id":"kept","to":{"user":"cleo"},"data":1}""")).Status);
            }

            await using var after = await TestHub.StartAsync(folder);
            using var tablet = await after.ConnectAsync("cleo", "tablet");

            Assert.Equal("kept", (await tablet.ReceiveEventAsync()).GetProperty("id").GetString());
        }
        finally
        {
            Directory.Delete(folder, recursive: true);
        }
    }

    [Fact]
    public async Task Post_TopicEvent_ReachesEveryMemberOnce()
    {
        await using var hub = await TestHub.StartAsync();
        var sockets = new List<TestSocket>();
        for (var i = 0; i < 5; i++)
        {
            Assert.Equal(204, (await hub.SendAsync("PUT", $"/v1/topics/room/members/user-{i}")).Status);
            sockets.Add(await hub.ConnectAsync($"user-{i}", "tab"));
        }

        await hub.SendAsync("POST", "/v1/events", """{"id":"t-1","to":{"topic":"room"},"except":{"users":["user-0"]},"data":1}""");
        await hub.SendAsync("POST", "/v1/events", """{"id":"t-2","to":{"topic":"room"},"data":2}""");

        Assert.Equal("t-2", (await sockets[0].ReceiveEventAsync()).GetProperty("id").GetString());
        foreach (var socket in sockets.Skip(1))
        {
            Assert.Equal("t-1", (await socket.ReceiveEventAsync()).GetProperty("id").GetString());
            Assert.Equal("t-2", (await socket.ReceiveEventAsync()).GetProperty("id").GetString());
        }

        sockets.ForEach(static socket => socket.Dispose());
    }

    internal static long Metric(TestHub hub, string series)
    {
        var text = hub.SendAsync("GET", "/metrics", operations: true).AsTaskResult().Body;
        var line = text.Split('\n').FirstOrDefault(l => l.StartsWith(series + " ", StringComparison.Ordinal));
        return line is null ? 0 : long.Parse(line[(series.Length + 1)..], System.Globalization.CultureInfo.InvariantCulture);
    }

    private static async Task<IReadOnlyList<Phone>> Phones(TestHub hub, int shown) => await TestHub.EventuallyAsync(
        () => hub.Host.Start.Sandbox!.Phones.All, phones => phones.Count(static p => p.LockScreen.Count > 0) == shown);
}

internal static class Waiting
{
    /// <summary>For polling reads only: the condition is asked on a test's own thread.</summary>
    internal static T AsTaskResult<T>(this Task<T> task)
    {
#pragma warning disable VSTHRD002 // a test thread may wait
        return task.GetAwaiter().GetResult();
#pragma warning restore VSTHRD002
    }
}
