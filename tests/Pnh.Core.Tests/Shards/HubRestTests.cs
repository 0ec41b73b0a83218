using Pnh.Core.Push;
using Pnh.TestKit;

namespace Pnh.Core.Tests.Shards;

/// <summary>A provider that calls many addresses of one account bad at once.</summary>
public sealed class HubRestTests
{
    private static readonly TimeSpan Minute = TimeSpan.FromMinutes(1);

    [Fact]
    public async Task BadWord_OfManyAtOnceInAnAccountThatWorked_TwentyAreRemovedTheOthersRest()
    {
        await using var hub = new HubUnderTest();
        PutPhones(hub, 60);
        await SendAllAsync(hub, 60);
        await hub.PassAsync(Minute);
        Refuse(hub);

        await SendAllAsync(hub, 60);

        Assert.Equal(20, hub.Store.Removals.Count);
        Assert.Equal(40, hub.Store.Resting.Count);
        Assert.Equal((40L, 40L), (hub.Hub.Rests.CountOf("fcm"), hub.Hub.Rests.RestedOf("fcm")));
        Assert.Equal(40, hub.Journal.Addresses.Count(static note => note is { Health: "rested", Reason: "SENDER_ID_MISMATCH" }));
        var account = Assert.Single(hub.Hub.Rests.Read());
        Assert.Equal(("fcm", "demo", 40, "SENDER_ID_MISMATCH"), (account.Channel, account.Account, account.Count, account.Reason));

        // None of them is asked for again within the minute.
        var before = hub.Pushed.Count;
        await SendAllAsync(hub, 60, from: 20);
        Assert.Equal(before, hub.Pushed.Count);
        Assert.Equal(40, hub.Journal.Settled.Count(static end => end.Reason == "address-rests"));
    }

    [Fact]
    public async Task BadWord_FewOfManyAnswers_RemovesAsBefore()
    {
        await using var hub = new HubUnderTest();
        PutPhones(hub, 600);
        var n = 0;
        hub.Fcm.Answer = (_, _) => ValueTask.FromResult(Interlocked.Increment(ref n) % 25 == 0 ? Bad : DeliveryResult.Of(DeliveryStatus.Accepted));

        await SendAllAsync(hub, 600);

        Assert.Equal((24, 0), (hub.Store.Removals.Count, hub.Store.Resting.Count));
    }

    [Fact]
    public async Task BadWord_TwentyAMinute_RemovesAsBefore()
    {
        await using var hub = new HubUnderTest();
        PutPhones(hub, 61);
        await SendAllAsync(hub, 1);
        Refuse(hub);
        for (var round = 0; round < 3; round++)
        {
            await SendAllAsync(hub, 1 + ((round + 1) * 20), from: 1 + (round * 20));
            await hub.PassAsync(Minute + TimeSpan.FromSeconds(10));
        }

        Assert.Equal((60, 0), (hub.Store.Removals.Count, hub.Store.Resting.Count));
    }

    [Fact]
    public async Task DeadWord_OfAll_RemovesAll()
    {
        await using var hub = new HubUnderTest();
        PutPhones(hub, 60);
        hub.Fcm.Answer = static (_, _) => ValueTask.FromResult(DeliveryResult.Of(DeliveryStatus.AddressDead, "UNREGISTERED"));

        await SendAllAsync(hub, 60);

        Assert.Equal((60, 0), (hub.Store.Removals.Count, hub.Store.Resting.Count));
    }

    [Fact]
    public async Task Resting_OneAMinuteIsTried_OverARestartToo_AndOneThatIsTakenReleasesAll()
    {
        var first = new HubUnderTest();
        PutPhones(first, 40);
        Refuse(first);
        await SendAllAsync(first, 40);
        await using var hub = await first.CrashAsync();
        Assert.Equal(20, hub.Hub.Rests.CountOf("fcm"));

        var before = hub.Pushed.Count;
        await SendAllAsync(hub, 40, from: 20);
        Assert.Equal(before + 1, hub.Pushed.Count);
        await hub.PassAsync(Minute - TimeSpan.FromSeconds(2));
        await SendAllAsync(hub, 40, from: 20);
        Assert.Equal(before + 1, hub.Pushed.Count);
        await hub.PassAsync(TimeSpan.FromSeconds(3));

        // An address of the account that does not rest proves nothing of them.
        hub.Store.Put("new", hub.Phone("new"));
        hub.Fcm.Always(DeliveryStatus.Accepted);
        await hub.SendAsync(to: """{"user":"new"}""");
        Assert.Equal(20, hub.Hub.Rests.CountOf("fcm"));

        await SendAllAsync(hub, 21, from: 20);
        await Waiting.UntilAsync(() => hub.Store.Resting.IsEmpty, "the release");
        Assert.Equal((0L, 20), (hub.Hub.Rests.CountOf("fcm"), hub.Journal.Addresses.Count(static note => note.Health == "released")));
        before = hub.Pushed.Count;
        await SendAllAsync(hub, 40, from: 20);
        Assert.Equal(before + 20, hub.Pushed.Count);
    }

    [Fact]
    public async Task Release_ByTheOperator_LetsThemHavePushesAgain()
    {
        await using var hub = new HubUnderTest();
        PutPhones(hub, 40);
        Refuse(hub);
        await SendAllAsync(hub, 40);
        hub.Fcm.Always(DeliveryStatus.Accepted);

        Assert.Equal(20, await hub.Hub.Rests.ReleaseAsync("fcm", "demo", CancellationToken.None));

        Assert.Empty(hub.Store.Resting);
        var before = hub.Pushed.Count;
        await SendAllAsync(hub, 40, from: 20);
        Assert.Equal(before + 20, hub.Pushed.Count);
    }

    [Fact]
    public async Task Drop_ByTheOperator_TakesThemOffTheirDevices()
    {
        await using var hub = new HubUnderTest();
        PutPhones(hub, 40);
        Refuse(hub);
        await SendAllAsync(hub, 40);

        Assert.Equal(20, await hub.Hub.Rests.DropAsync("fcm", "demo", CancellationToken.None));

        Assert.Equal((40, 0), (hub.Store.Removals.Count, hub.Store.Resting.Count));
        Assert.Empty(hub.Hub.Rests.Read());
        await Waiting.UntilAsync(() => hub.Journal.Addresses.Count(static note => note.Health == "dead") == 40, "the notes");
    }

    private static DeliveryResult Bad => DeliveryResult.Of(DeliveryStatus.AddressDead, "SENDER_ID_MISMATCH") with { MayBeAccounts = true };

    private static void Refuse(HubUnderTest hub) => hub.Fcm.Answer = static (_, _) => ValueTask.FromResult(Bad);

    private static void PutPhones(HubUnderTest hub, int count)
    {
        for (var i = 0; i < count; i++)
        {
            hub.Store.Put($"u{i}", hub.Phone($"phone-{i}"));
        }
    }

    private static async Task SendAllAsync(HubUnderTest hub, int to, int from = 0)
    {
        for (var i = from; i < to; i++)
        {
            await hub.SendAsync(to: $$"""{"user":"u{{i}}"}""");
        }
    }
}
