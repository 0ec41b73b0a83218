using Microsoft.AspNetCore.Server.Kestrel.Core;
using Pnh.Channels.Tests.Apns;
using Pnh.Channels.Tests.Fcm;
using Pnh.Channels.Tests.WebPush;
using Pnh.Core.Events;
using Pnh.Core.Push;
using Pnh.TestKit;

namespace Pnh.Channels.Tests.Http;

/// <summary>Answers that come after their attempt's time: they say whether a push was shown, so they are waited for; and copies replace each other.</summary>
public sealed class LateAnswerTests
{
    private static readonly Notification Hello = new() { Title = "Grace", Body = "Hello" };
    private static readonly TimeSpan ApnsAttempt = TimeSpan.FromSeconds(5);
    private readonly FakeTimeProvider _time = new();
    private readonly TaskCompletionSource _gate = new(TaskCreationOptions.RunContinuationsAsynchronously);

    [Theory]
    [InlineData(false, 200, "", DeliveryStatus.Accepted)]
    [InlineData(true, 200, "", DeliveryStatus.Accepted)]
    [InlineData(false, 410, """{"reason":"Unregistered","timestamp":1767225600000}""", DeliveryStatus.AddressDead)]
    [InlineData(true, 503, """{"reason":"ServiceUnavailable"}""", DeliveryStatus.Unavailable)]
    [InlineData(true, 403, """{"reason":"ExpiredProviderToken"}""", DeliveryStatus.Unavailable)]
    public async Task Apns_AnsweredAfterItsTime_TheAnswerIsTheEndOfIt(bool isDirect, int status, string body, DeliveryStatus expected)
    {
        ChannelHost.Transport.Value = isDirect ? ChannelHost.Direct : null;
        await using var apns = await ApnsFixture.StartAsync((_, n) => n == 0 ? new Reply(200) : new Reply(status, body, Gate: _gate.Task), _time);
        await WarmAsync(apns);
        var send = apns.SendAsync(Sample.Event(_time, notification: Hello));
        await Waiting.UntilAsync(() => apns.Server.Requests.Count == 2);
        _time.Advance(ApnsAttempt);

        var soFar = await send;
        Assert.Equal((DeliveryStatus.Unavailable, "timeout", true), (soFar.Status, soFar.Reason, soFar.IsUnknown));
        _time.Advance(TimeSpan.FromSeconds(25));
        Assert.False(soFar.Late!.IsCompleted);
        _gate.SetResult();

        var end = await soFar.Late.WaitAsync(Sample.Limit);
        Assert.Equal((expected, false), (end.Status, end.IsUnknown));
        Assert.Equal(apns.Server.Requests[1].Headers["apns-id"], end.ProviderId);
        Assert.Equal(2, apns.Server.Requests.Count);
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task Apns_NeverAnswered_UnknownHalfAMinuteLater(bool isDirect)
    {
        ChannelHost.Transport.Value = isDirect ? ChannelHost.Direct : null;
        await using var apns = await ApnsFixture.StartAsync((_, n) => n == 0 ? new Reply(200) : new Reply(200, Gate: _gate.Task), _time);
        await WarmAsync(apns);
        var send = apns.SendAsync(Sample.Event(_time, notification: Hello));
        await Waiting.UntilAsync(() => apns.Server.Requests.Count == 2);
        _time.Advance(ApnsAttempt);
        var soFar = await send;
        _time.Advance(TimeSpan.FromSeconds(30));

        var end = await soFar.Late!.WaitAsync(Sample.Limit);
        Assert.Equal((DeliveryStatus.Unavailable, "timeout", true), (end.Status, end.Reason, end.IsUnknown));
        Assert.Equal(2, apns.Server.Requests.Count);
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task Apns_ConnectionLostWhileAwaited_Unknown(bool isDirect)
    {
        ChannelHost.Transport.Value = isDirect ? ChannelHost.Direct : null;
        await using var apns = await ApnsFixture.StartAsync((_, n) => n == 0 ? new Reply(200) : new Reply(200, Gate: _gate.Task, Reset: 2), _time);
        await WarmAsync(apns);
        var send = apns.SendAsync(Sample.Event(_time, notification: Hello));
        await Waiting.UntilAsync(() => apns.Server.Requests.Count == 2);
        _time.Advance(ApnsAttempt);
        var soFar = await send;
        _gate.SetResult();

        var end = await soFar.Late!.WaitAsync(Sample.Limit);
        Assert.Equal(("connection-lost", true), (end.Reason, end.IsUnknown));
    }

    [Fact]
    public async Task Apns_StreamCutInTime_UnknownAtOnce()
    {
        await using var apns = await ApnsFixture.StartAsync((_, _) => new Reply(0, Reset: 2), _time);

        var result = await apns.SendAsync(Sample.Event(_time, notification: Hello));

        Assert.Equal(("connection-lost", true, null), (result.Reason, result.IsUnknown, result.Late));
    }

    [Fact]
    public async Task Apns_MoreThanMayBeAwaited_TheRestEndsAtItsTime()
    {
        ChannelHost.Transport.Value = ChannelHost.Direct;
        await using var apns = await ApnsFixture.StartAsync((_, n) => n == 0 ? new Reply(200) : new Reply(200, Gate: _gate.Task), _time);
        await using var quarantine = apns.Sender.Quarantine!;
        Assert.Equal(DeliveryStatus.Accepted, (await SendAsync(quarantine, 0)).Status);
        var sends = Enumerable.Range(1, 8).Select(n => SendAsync(quarantine, n)).ToList();
        await Waiting.UntilAsync(() => apns.Server.Requests.Count == 9);
        _time.Advance(ApnsAttempt);

        var late = (await Task.WhenAll(sends)).Select(static result => result.Late!).ToList();
        await Waiting.UntilAsync(() => late.Count(static one => one.IsCompleted) == 3); // its 20 places: a quarter is 5
        _gate.SetResult();
        var ends = await Task.WhenAll(late).WaitAsync(Sample.Limit);
        Assert.Equal((5, 3), (ends.Count(static end => end.Status == DeliveryStatus.Accepted), ends.Count(static end => end.IsUnknown)));
    }

    [Fact]
    public async Task Apns_FirstOfAConnectionIsLate_OthersGoOverTheNext()
    {
        await using var apns = await ApnsFixture.StartAsync((_, n) => n == 0 ? new Reply(200, Gate: _gate.Task) : new Reply(200), _time);
        var send = apns.SendAsync(Sample.Event(_time, notification: Hello));
        await Waiting.UntilAsync(() => apns.Server.Requests.Count == 1);
        _time.Advance(ApnsAttempt);
        var soFar = await send;

        Assert.Equal(DeliveryStatus.Accepted, (await apns.SendAsync(Sample.Event(_time, notification: Hello, id: "event-2"))).Status);
        Assert.Equal(2, apns.Server.Requests.Select(static request => request.Connection).Distinct().Count());
        _gate.SetResult();
        Assert.Equal(DeliveryStatus.Accepted, (await soFar.Late!.WaitAsync(Sample.Limit)).Status);
    }

    [Fact]
    public async Task Apns_CallerStopsWhileAwaited_Unknown()
    {
        await using var apns = await ApnsFixture.StartAsync((_, n) => n == 0 ? new Reply(200) : new Reply(200, Gate: _gate.Task), _time);
        await WarmAsync(apns);
        using var stop = new CancellationTokenSource();
        var send = apns.Sender.SendAsync(Sample.Delivery(Sample.Event(_time, notification: Hello), ApnsFixture.Address()), stop.Token).AsTask();
        await Waiting.UntilAsync(() => apns.Server.Requests.Count == 2);
        _time.Advance(ApnsAttempt);
        var soFar = await send.WaitAsync(Sample.Limit);
        await stop.CancelAsync();

        var end = await soFar.Late!.WaitAsync(Sample.Limit);
        Assert.Equal(("stopped", true), (end.Reason, end.IsUnknown));
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task Fcm_AnsweredAfterItsTime_TheAnswerIsTheEndOfIt(bool isDirect)
    {
        ChannelHost.Transport.Value = isDirect ? ChannelHost.Direct : null;
        await using var fcm = await FcmFixture.StartAsync((_, _) => FcmFixture.Ok() with { Gate = _gate.Task }, time: _time);
        var send = fcm.SendAsync(Sample.Event(_time, notification: Hello));
        await Waiting.UntilAsync(() => fcm.Server.Requests.Count == 1);
        _time.Advance(TimeSpan.FromSeconds(14));
        var soFar = await send;
        Assert.True(soFar.IsUnknown);
        _time.Advance(TimeSpan.FromSeconds(25));
        _gate.SetResult();

        var end = await soFar.Late!.WaitAsync(Sample.Limit);
        Assert.Equal((DeliveryStatus.Accepted, "projects/pnh-test/messages/0:1"), (end.Status, end.ProviderId));
        Assert.Single(fcm.Server.Requests);
    }

    [Theory]
    [InlineData(HttpProtocols.Http2)]
    [InlineData(HttpProtocols.Http1)]
    public async Task WebPush_AnsweredAfterItsTime_TheAnswerIsTheEndOfIt(HttpProtocols protocol)
    {
        await using var push = await WebPushFixture.StartAsync(_ => new Answer(201, Gate: _gate.Task), protocol);
        var send = push.SendAsync(Sample.Event(push.Time, notification: Hello));
        await Waiting.UntilAsync(() => push.Server.Messages.Count == 1);
        push.Time.Advance(TimeSpan.FromSeconds(12));
        var soFar = await send;
        Assert.True(soFar.IsUnknown);
        push.Time.Advance(TimeSpan.FromSeconds(25));
        _gate.SetResult();

        Assert.Equal(DeliveryStatus.Accepted, (await soFar.Late!.WaitAsync(Sample.Limit)).Status);
    }

    [Fact]
    public async Task WebPush_WaitedForAConnectionAllItsTime_IsTakenBackAndNoUnknownEnd()
    {
        await using var push = await WebPushFixture.StartAsync(_ => new Answer(201, Gate: _gate.Task), HttpProtocols.Http1);
        var sends = Enumerable.Range(0, 8).Select(Send).ToList();
        await Waiting.UntilAsync(() => push.Server.Messages.Count == 8);

        // Only now: all connections are taken, so the ninth has to wait for one.
        sends.Add(Send(8));
        await Task.Delay(200);
        push.Time.Advance(TimeSpan.FromSeconds(12));
        await Waiting.UntilAsync(() => sends.Count(static send => send.IsCompleted) == 8);
        _gate.SetResult();
        while (sends.Exists(static send => !send.IsCompleted))
        {
            // Slowly: the answer of the ninth is real, and must not find its time over.
            push.Time.Advance(TimeSpan.FromMilliseconds(50));
            await Task.WhenAny(Task.WhenAll(sends), Task.Delay(25));
        }

        var results = await Task.WhenAll(sends);
        Assert.Equal((8, 1), (results.Count(static result => result.IsUnknown), results.Count(static result => result.Status == DeliveryStatus.Accepted)));
        Assert.Equal(9, push.Server.Messages.Count);

        Task<DeliveryResult> Send(int n) => push.SendAsync(Sample.Event(push.Time, notification: Hello, id: $"event-{n}"));
    }

    [Theory]
    [InlineData("token", EventClass.Message)]
    [InlineData("voipToken", EventClass.Call)]
    public async Task Apns_NoCollapseKey_TheEventsIdReplacesTheCopy(string kind, EventClass @class)
    {
        var id = new string('i', 64);
        await using var apns = await ApnsFixture.StartAsync((_, _) => new Reply(200));

        await apns.SendAsync(Sample.Event(apns.Time, @class, Hello, id: id), kind);

        Assert.Equal(id, Assert.Single(apns.Server.Requests).Headers["apns-collapse-id"]);
    }

    [Fact]
    public async Task Fcm_NoCollapseKey_TheEventsIdReplacesTheCopy()
    {
        await using var fcm = await FcmFixture.StartAsync((_, _) => FcmFixture.Ok());

        await fcm.SendAsync(Sample.Event(fcm.Time, notification: Hello, id: "event-7"));

        var text = Assert.Single(fcm.Server.Requests).Text;
        Assert.Contains("""notification":{"tag":"event-7"}""", text, StringComparison.Ordinal);
        Assert.Contains("\"apns-collapse-id\":\"event-7\"", text, StringComparison.Ordinal);
        Assert.DoesNotContain("collapse_key", text, StringComparison.Ordinal);
    }

    [Theory]
    [InlineData("event-7", "event-7")]
    [InlineData("event:7", null)]
    [InlineData("0190c5a2-1111-7000-8000-000000000000", null)]
    public async Task WebPush_NoCollapseKey_TheEventsIdReplacesTheCopy(string id, string? topic)
    {
        await using var push = await WebPushFixture.StartAsync();

        await push.SendAsync(Sample.Event(push.Time, notification: Hello, id: id));
        await push.SendAsync(Sample.Event(push.Time, notification: Hello, id: id));

        Assert.Empty(push.Server.Faults);
        Assert.Single(push.Server.Messages.Select(static message => message.Topic).Distinct());
        Assert.Equal(topic ?? push.Server.Messages[0].Topic, push.Server.Messages[0].Topic);
        Assert.Matches("^[A-Za-z0-9_-]{1,32}$", push.Server.Messages[0].Topic);
        Assert.Contains($"\"tag\":\"{id}\"", push.Server.Messages[0].Text, StringComparison.Ordinal);
    }

    private Task<DeliveryResult> SendAsync(IPushSender sender, int n) => sender
        .SendAsync(Sample.Delivery(Sample.Event(_time, notification: Hello, id: $"event-{n}"), ApnsFixture.Address()), CancellationToken.None)
        .AsTask().WaitAsync(Sample.Limit);

    // A first request is answered: the connection has heard its peer's SETTINGS, for which it waits 3.5 s of the clock that the test drives.
    private async Task WarmAsync(ApnsFixture apns) =>
        Assert.Equal(DeliveryStatus.Accepted, (await apns.SendAsync(Sample.Event(_time, notification: Hello, id: "first"))).Status);
}
