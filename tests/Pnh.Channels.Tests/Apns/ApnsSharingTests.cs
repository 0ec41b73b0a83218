using System.Security.Cryptography;
using Pnh.Channels.Provider.Connections;
using Pnh.Channels.Provider.Credentials;
using Pnh.Channels.Tests.Http;
using Pnh.Core.Diagnostics;
using Pnh.Core.Events;
using Pnh.Core.Push;
using Pnh.TestKit;

namespace Pnh.Channels.Tests.Apns;

/// <summary>What accounts and classes of one key share: connections, and the stop of a refused key.</summary>
public sealed class ApnsSharingTests : IDisposable
{
    private static readonly Notification Hello = new() { Title = "Grace" };

    private readonly FakeTimeProvider _time = new();
    private readonly ECDsa _key = ECDsa.Create(ECCurve.NamedCurves.nistP256);
    private int _sent;

    public void Dispose() => _key.Dispose();

    [Fact]
    public async Task Accounts_ThatDifferInTheTopicOnly_ShareConnectionsAndTheLastOneEndsThem()
    {
        await using var server = await ProviderStandIn.StartAsync((_, _) => new Reply(200));
        await using var host = Host(server);
        await using var second = host.Channel("apns").Open("demo/1", EventClass.Message);
        await using (var first = host.Channel("apns").Open("demo/0", EventClass.Message))
        {
            await SendAsync(first);
            await SendAsync(second);
            await first.Quarantine!.DisposeAsync();
        }

        // One of the two is gone, what they shared is not.
        await SendAsync(second);

        Assert.Equal(["com.example", "com.example.two", "com.example.two"], server.Requests.Select(request => request.Headers["apns-topic"]));
        Assert.Single(server.Requests.Select(request => request.Connection).Distinct());
        await second.Quarantine!.DisposeAsync();
        await second.DisposeAsync();
        Assert.Equal(0, host.Gauges("apns").Connections(ConnectionState.Warm) + host.Gauges("apns").Connections(ConnectionState.Cold));
    }

    [Theory]
    [InlineData("demo/0", EventClass.Bulk)]
    [InlineData("other/0", EventClass.Message)]
    [InlineData("demo/2", EventClass.Message)]
    public async Task Classes_AppsAndKeys_HaveConnectionsOfTheirOwn(string account, EventClass @class)
    {
        await using var server = await ProviderStandIn.StartAsync((_, _) => new Reply(200));
        await using var host = Host(server);
        await using var first = host.Channel("apns").Open("demo/0", EventClass.Message);
        await using var second = host.Channel("apns").Open(account, @class);

        await SendAsync(first);
        await SendAsync(second);

        Assert.Equal(2, server.Requests.Select(request => request.Connection).Distinct().Count());
        await first.Quarantine!.DisposeAsync();
        await second.Quarantine!.DisposeAsync();
    }

    [Fact]
    public async Task KeyRefused_EveryClassAndTopicWaitsAndOneRequestPerPauseLooks()
    {
        var isGood = false;
        await using var server = await ProviderStandIn.StartAsync((_, _) =>
            Volatile.Read(ref isGood) ? new Reply(200) : new Reply(403, """{"reason":"InvalidProviderToken"}"""));
        await using var host = Host(server);
        IPushSender[] senders = [.. new[] { ("demo/0", EventClass.Call), ("demo/0", EventClass.Bulk), ("demo/1", EventClass.Message) }
            .Select(one => host.Channel("apns").Open(one.Item1, one.Item2))];

        var first = await SendAsync(senders[1]);
        Assert.Equal((DeliveryStatus.Misconfigured, "InvalidProviderToken", false), (first.Status, first.Reason, first.IsHeld));
        Assert.Equal(ConfigurationStop.Pause, first.RetryAfter);
        foreach (var sender in senders)
        {
            for (var i = 0; i < 20; i++)
            {
                var held = await SendAsync(sender);
                Assert.Equal((DeliveryStatus.Misconfigured, "InvalidProviderToken", true), (held.Status, held.Reason, held.IsHeld));
            }
        }

        Assert.Single(server.Requests);
        _time.Advance(ConfigurationStop.Pause);
        Assert.False((await SendAsync(senders[0])).IsHeld);
        var next = await SendAsync(senders[2]);
        Assert.True(next.IsHeld, $"{next}");
        Assert.Equal(2, server.Requests.Count);

        // Somebody acted at Apple; the next look finds out for everybody.
        Volatile.Write(ref isGood, true);
        _time.Advance(ConfigurationStop.Pause);
        foreach (var sender in senders)
        {
            Assert.Equal(DeliveryStatus.Accepted, (await SendAsync(sender)).Status);
            await sender.Quarantine!.DisposeAsync();
            await sender.DisposeAsync();
        }
    }

    [Fact]
    public async Task KeyRefused_AnotherKeyInTheFile_UsedAtOnce()
    {
        using var other = ECDsa.Create(ECCurve.NamedCurves.nistP256);
        string? refused = null;
        await using var server = await ProviderStandIn.StartAsync((request, _) =>
            (refused ??= request.Headers["authorization"]) == request.Headers["authorization"] ? new Reply(403, """{"reason":"InvalidProviderToken"}""") : new Reply(200));
        await using var host = Host(server);
        await using var sender = host.Channel("apns").Open("demo/0", EventClass.Message);
        await SendAsync(sender);
        Assert.True((await SendAsync(sender)).IsHeld);

        File.WriteAllText(host.PathOf("key.p8"), other.ExportPkcs8PrivateKeyPem());
        var start = TimeProvider.System.GetTimestamp();
        while (Reloads(host, "taken") < 2) // two keys are of that file, and each is read by itself
        {
            Assert.True(TimeProvider.System.GetElapsedTime(start) < Sample.Limit, "the file was not read");

            // Less than a pause in all: nobody may look before.
            _time.Advance(_time.GetUtcNow() - _time.Start < CredentialFile.Period ? CredentialFile.Period : TimeSpan.Zero);
            await Task.Delay(5);
        }

        Assert.Equal(DeliveryStatus.Accepted, (await SendAsync(sender)).Status);
        await sender.Quarantine!.DisposeAsync();
    }

    [Fact]
    public async Task TopicRefused_OtherTopicsOfTheKeyGoOn()
    {
        await using var server = await ProviderStandIn.StartAsync((request, _) =>
            request.Headers["apns-topic"] == "com.example" ? new Reply(400, """{"reason":"TopicDisallowed"}""") : new Reply(200));
        await using var host = Host(server);
        await using var first = host.Channel("apns").Open("demo/0", EventClass.Message);
        await using var second = host.Channel("apns").Open("demo/1", EventClass.Message);

        Assert.Equal("TopicDisallowed", (await SendAsync(first)).Reason);
        Assert.Equal(DeliveryStatus.Accepted, (await SendAsync(second)).Status);
        Assert.True((await SendAsync(first)).IsHeld);
        await first.Quarantine!.DisposeAsync();
        await second.Quarantine!.DisposeAsync();
    }

    [Fact]
    public async Task KeyRefused_PutRightAndATopicOfItLooksFirst_OtherTopicsGoOnAtOnce()
    {
        var isGood = false;
        await using var server = await ProviderStandIn.StartAsync((request, _) =>
            !Volatile.Read(ref isGood) ? new Reply(403, """{"reason":"InvalidProviderToken"}""")
            : request.Headers["apns-topic"] == "com.example" ? new Reply(400, """{"reason":"TopicDisallowed"}""") : new Reply(200));
        await using var host = Host(server);
        await using var first = host.Channel("apns").Open("demo/0", EventClass.Message);
        await using var second = host.Channel("apns").Open("demo/1", EventClass.Message);
        Assert.Equal("InvalidProviderToken", (await SendAsync(second)).Reason);

        Volatile.Write(ref isGood, true);
        _time.Advance(ConfigurationStop.Pause);
        Assert.Equal("TopicDisallowed", (await SendAsync(first)).Reason);

        Assert.Equal(DeliveryStatus.Accepted, (await SendAsync(second)).Status);
        Assert.True((await SendAsync(first)).IsHeld);
        await first.Quarantine!.DisposeAsync();
        await second.Quarantine!.DisposeAsync();
    }

    /// <summary>What clears an event is asked for a few times only: the first of these counts, though the second was held back.</summary>
    [Fact]
    public async Task KeyRefused_BetweenTwoAttemptsOfAnother_HeldBackAndWasAsked()
    {
        await using var server = await ProviderStandIn.StartAsync((_, n) =>
            n == 0 ? new Reply(503, """{"reason":"ServiceUnavailable"}""") : new Reply(403, """{"reason":"InvalidProviderToken"}"""));
        await using var host = Host(server);
        await using var sender = host.Channel("apns").Open("demo/0", EventClass.Message);
        var timers = _time.PendingTimers;
        var again = SendAsync(sender);
        var start = TimeProvider.System.GetTimestamp();
        while (server.Requests.Count == 0 || _time.PendingTimers <= timers)
        {
            Assert.True(TimeProvider.System.GetElapsedTime(start) < Sample.Limit, "no attempt that is to be tried again");
            await Task.Delay(5);
        }

        await Task.Delay(100); // its answer is read, as a rule
        Assert.Equal((DeliveryStatus.Misconfigured, false), ((await SendAsync(sender)).Status, again.IsCompleted));
        while (!again.IsCompleted)
        {
            // Its pause begins when its answer is read, which a busy machine does late.
            Assert.True(TimeProvider.System.GetElapsedTime(start) < 3 * Sample.Limit, "not tried again");
            _time.Advance(TimeSpan.FromMilliseconds(50));
            await Task.WhenAny(again, Task.Delay(5));
        }

        var result = await again;
        Assert.Equal((DeliveryStatus.Misconfigured, true, false), (result.Status, result.IsHeld, result.IsUnasked));
        Assert.Equal(2, server.Requests.Count);
        await sender.Quarantine!.DisposeAsync();
    }

    /// <summary>A refusal ends its connection: of those who wait for the first one each would have its own, until there are no dials left for anybody.</summary>
    [Theory]
    [InlineData(400, "TopicDisallowed")]
    [InlineData(400, "BadTopic")]
    public async Task TopicRefused_ManyWaitForTheFirstConnection_HeldBackAndTheOtherTopicGoesOn(int status, string reason)
    {
        await using var server = await ProviderStandIn.StartAsync((request, _) =>
            request.Headers["apns-topic"] == "com.example" ? new Reply(status, $$"""{"reason":"{{reason}}"}""") : new Reply(200));
        await using var host = Host(server);
        await using var refused = host.Channel("apns").Open("demo/0", EventClass.Message);
        await using var good = host.Channel("apns").Open("demo/1", EventClass.Message);

        var results = await SendManyAsync(refused);
        Assert.All(results, result => Assert.Equal((DeliveryStatus.Misconfigured, reason), (result.Status, result.Reason)));

        // One, or the second too when its connection was open before the first heard its answer to the end.
        var asked = server.Requests.Count;
        Assert.InRange(asked, 1, 2);
        Assert.Equal(50 - asked, results.Count(static result => result.IsHeld));

        Assert.Equal(DeliveryStatus.Accepted, (await SendAsync(good)).Status);
        Assert.InRange(host.Gauges("apns").Dials, 1, asked + 1);
        Assert.Equal(0, host.Gauges("apns").Readings.Single(static one => one.Reading == ProviderReading.OpenBreakers).Read());

        // One of them looks, once per pause.
        _time.Advance(ConfigurationStop.Pause);
        Assert.Equal(49, (await SendManyAsync(refused)).Count(static result => result.IsHeld));
        Assert.Equal(asked + 2, server.Requests.Count);
        await refused.Quarantine!.DisposeAsync();
        await good.Quarantine!.DisposeAsync();
    }

    [Fact]
    public void HoldBack_WhileRefused_OnlyWhoLooksPassesAsOftenAsItTakes()
    {
        var accepted = Sample.Event(_time, EventClass.Message);
        var (one, other) = (Sample.Delivery(accepted, ApnsFixture.Address()), Sample.Delivery(accepted, ApnsFixture.Address()));
        var stop = new ConfigurationStop(_time);
        Assert.Null(stop.Hold(one));
        Assert.Null(stop.HoldBack(one));
        stop.Refused(DeliveryResult.Of(DeliveryStatus.Misconfigured, "BadTopic"));
        var held = stop.HoldBack(one)!.Value;
        Assert.Equal(("BadTopic", true), (held.Reason, held.IsHeld));

        _time.Advance(ConfigurationStop.Pause);
        Assert.NotNull(stop.HoldBack(one));
        Assert.Null(stop.Hold(one));
        Assert.NotNull(stop.Hold(other));
        Assert.NotNull(stop.HoldBack(other));
        Assert.Null(stop.HoldBack(one));
        Assert.Null(stop.HoldBack(one));

        _time.Advance(ConfigurationStop.Pause);
        Assert.Null(stop.Hold(other));
        Assert.NotNull(stop.HoldBack(one));
        Assert.Null(stop.HoldBack(other));

        stop.Passed();
        Assert.Null(stop.HoldBack(one));
    }

    /// <summary>A topic that is added at Apple, a key that is allowed again: connections that saw the refusal go on refusing.</summary>
    [Theory]
    [InlineData(400, "TopicDisallowed")]
    [InlineData(400, "BadTopic")]
    [InlineData(403, "InvalidProviderToken")]
    [InlineData(403, "UnrelatedKeyIdInToken")]
    public async Task Refused_PutRightAtApple_AcceptedOverAnotherConnection(int status, string reason)
    {
        string? first = null;
        await using var server = await ProviderStandIn.StartAsync((request, _) =>
            (first ??= request.Connection) == request.Connection ? new Reply(status, $$"""{"reason":"{{reason}}"}""") : new Reply(200));
        await using var host = Host(server);
        await using var sender = host.Channel("apns").Open("demo/0", EventClass.Message);

        Assert.Equal(reason, (await SendAsync(sender)).Reason);
        _time.Advance(ConfigurationStop.Pause);

        Assert.Equal(DeliveryStatus.Accepted, (await SendAsync(sender)).Status);
        await sender.Quarantine!.DisposeAsync();
    }

    [Theory]
    [InlineData("BadEnvironmentKeyIdInToken")]
    [InlineData("BadEnvironmentKeyInToken")]
    public async Task KeyRefusedInTheSandbox_ProductionGoesOnAndTheSandboxWaits(string reason)
    {
        await using var server = await ProviderStandIn.StartAsync((request, _) =>
            request.Headers["apns-topic"] == "com.example.dev" ? new Reply(403, $$"""{"reason":"{{reason}}"}""") : new Reply(200));
        await using var host = Host(server, ("demo:Apns:3", "KEY1234567", "com.example.dev"), ("demo:Apns:4", "KEY1234567", "com.example.beta"));
        await using var production = host.Channel("apns").Open("demo/0", EventClass.Message);
        await using var sandbox = host.Channel("apns").Open("demo/3", EventClass.Message);
        await using var other = host.Channel("apns").Open("demo/4", EventClass.Message);

        var refused = await SendAsync(sandbox);
        Assert.Equal((DeliveryStatus.Misconfigured, reason, false), (refused.Status, refused.Reason, refused.IsHeld));
        Assert.Equal(DeliveryStatus.Accepted, (await SendAsync(production)).Status);
        Assert.True((await SendAsync(sandbox)).IsHeld);

        // Every topic of the environment, since it is the key that does not belong there.
        Assert.True((await SendAsync(other)).IsHeld);
        Assert.Equal(2, server.Requests.Count);
        await Task.WhenAll(new[] { production, sandbox, other }.Select(static one => one.Quarantine!.DisposeAsync().AsTask()));
    }

    [Fact]
    public async Task KeyId_ChangedForOneOfTwoAccounts_RefusedUntilBothAreChanged()
    {
        await using var server = await ProviderStandIn.StartAsync((_, _) => new Reply(200));
        await using var host = Host(server);
        host.Pnh["Apps:demo:Apns:0:KeyId"] = "NEWKEY7890";
        host.Pnh["Apps:other:Apns:0:KeyId"] = "NEWKEY7890";
        await PassAsync(() => Reloads(host, "refused") == 1);

        host.Pnh["Apps:demo:Apns:1:KeyId"] = "NEWKEY7890";
        await PassAsync(() => Reloads(host, "taken") == 1);
    }

    private ChannelHost Host(ProviderStandIn server, params (string Account, string Key, string Topic)[] ofTheSandbox)
    {
        Dictionary<string, string?> settings = [];
        foreach (var (account, key, topic) in new[]
        {
            ("demo:Apns:0", "KEY1234567", "com.example"), ("demo:Apns:1", "KEY1234567", "com.example.two"),
            ("demo:Apns:2", "OTHERKEY12", "com.example.three"), ("other:Apns:0", "KEY1234567", "com.example"),
        }.Concat(ofTheSandbox))
        {
            settings[$"Apps:{account}:TeamId"] = "TEAM123456";
            settings[$"Apps:{account}:KeyId"] = key;
            settings[$"Apps:{account}:KeyFile"] = "key.p8";
            settings[$"Apps:{account}:Topic"] = topic;
            settings[$"Apps:{account}:BaseAddress"] = server.Address.AbsoluteUri;
        }

        foreach (var (account, _, _) in ofTheSandbox)
        {
            settings[$"Apps:{account}:Environment"] = "sandbox";
        }

        var host = new ChannelHost(_time, settings, new() { ["key.p8"] = _key.ExportPkcs8PrivateKeyPem() });
        host.Trust(server.Address);
        Assert.Empty(host.Check());
        return host;
    }

    private Task<DeliveryResult> SendAsync(IPushSender sender) => sender.SendAsync(
        Sample.Delivery(Sample.Event(_time, notification: Hello, id: $"event-{_sent++}", ttl: TimeSpan.FromDays(1)), ApnsFixture.Address()),
        CancellationToken.None).AsTask().WaitAsync(Sample.Limit);

    private Task<DeliveryResult[]> SendManyAsync(IPushSender sender) => Task.WhenAll([.. Enumerable.Range(0, 50).Select(_ => SendAsync(sender))]);

    private async Task PassAsync(Func<bool> condition)
    {
        var start = TimeProvider.System.GetTimestamp();
        while (!condition())
        {
            Assert.True(TimeProvider.System.GetElapsedTime(start) < Sample.Limit, "condition not reached");
            _time.Advance(TimeSpan.FromSeconds(1));
            await Task.Delay(5);
        }
    }

    private static double Reloads(ChannelHost host, string result) =>
        host.Gauges("apns").Readings.Single(one => one.Reading == ProviderReading.CredentialReloads && one.Label == result).Read();
}
