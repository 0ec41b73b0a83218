using Pnh.Channels.Tests.Http;
using Pnh.Core.Events;
using Pnh.Core.Push;
using Pnh.TestKit;

namespace Pnh.Channels.Tests.Fcm;

/// <summary>FCM's rule: an attempt of at least 10 s, and no retry before 10 s (FCM: "Best practices when sending FCM messages at scale").</summary>
public sealed class FcmWaitTests
{
    private static readonly Notification Hello = new() { Title = "Grace", Body = "Hello" };

    [Fact]
    public async Task SendAsync_TokenTakesEightSeconds_FcmHasItsTenAllTheSame()
    {
        var time = new FakeTimeProvider();
        var token = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        var answer = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        await using var fcm = await FcmFixture.StartAsync(
            (_, _) => FcmFixture.Ok() with { Gate = answer.Task }, (_, n) => FcmFixture.Grant(n) with { Gate = token.Task }, time);

        var send = fcm.SendAsync(Sample.Event(time, notification: Hello));
        await Waiting.UntilAsync(() => fcm.OAuth.Requests.Count == 1);
        time.Advance(TimeSpan.FromSeconds(8));
        token.SetResult();
        await Waiting.UntilAsync(() => fcm.Server.Requests.Count == 1);
        time.Advance(TimeSpan.FromSeconds(10));
        answer.SetResult();

        Assert.Equal(DeliveryStatus.Accepted, (await send).Status);
    }

    [Fact]
    public async Task SendAsync_NoAnswer_AgainAfterTenSecondsAtTheEarliest()
    {
        var time = new FakeTimeProvider();
        var never = new TaskCompletionSource();
        await using var fcm = await FcmFixture.StartAsync((_, _) => FcmFixture.Ok() with { Gate = never.Task }, time: time);

        var send = fcm.SendAsync(Sample.Event(time, notification: Hello));
        await Waiting.UntilAsync(() => fcm.Server.Requests.Count == 1);
        time.Advance(TimeSpan.FromSeconds(14));

        AssertWaits("timeout", await send);
    }

    [Fact]
    public async Task SendAsync_StreamCut_AgainAfterTenSecondsAtTheEarliest()
    {
        await using var fcm = await FcmFixture.StartAsync((_, _) => new Reply(0, Reset: 2));

        AssertWaits("connection-lost", await fcm.SendAsync(Sample.Event(fcm.Time, notification: Hello)));
        Assert.Single(fcm.Server.Requests);
    }

    [Fact]
    public async Task SendAsync_UnauthorizedAndTheNewTokenIsSlow_NotSentIntoTheRestOfTheAttempt()
    {
        var time = new FakeTimeProvider();
        var token = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        await using var fcm = await FcmFixture.StartAsync(
            (_, n) => n == 0 ? new Reply(401, """{"error":{"status":"UNAUTHENTICATED"}}""") : FcmFixture.Ok(),
            (_, n) => n == 0 ? FcmFixture.Grant(n) : FcmFixture.Grant(n) with { Gate = token.Task },
            time);

        var send = fcm.SendAsync(Sample.Event(time, notification: Hello));
        await Waiting.UntilAsync(() => fcm.OAuth.Requests.Count == 2);
        time.Advance(TimeSpan.FromSeconds(6));
        token.SetResult();

        AssertWaits("token-replaced", await send);
        Assert.Single(fcm.Server.Requests);
    }

    private static void AssertWaits(string reason, DeliveryResult result)
    {
        Assert.Equal((DeliveryStatus.Unavailable, reason), (result.Status, result.Reason));
        Assert.InRange(result.RetryAfter!.Value, TimeSpan.FromSeconds(10), TimeSpan.FromSeconds(20));
        Assert.False(result.IsUnasked);
    }
}
