using Pnh.Core.Events;
using Pnh.Core.Journal;

namespace Pnh.Core.Tests.Journal;

/// <summary>Deliveries that rest: they wait for their device alone, and no process has them in memory.</summary>
public abstract partial class EventJournalSpecification
{
    [Fact(Timeout = 30_000)]
    public async Task ReadMailAsync_WhatRests_IsReadByItsDeviceAlone()
    {
        foreach (var (id, device) in new[] { ("e2", "phone"), ("e1", "phone"), ("e3", "tab") })
        {
            await AppendAsync(Make(id, $$"""{"n":"{{id}}"}"""));
            Time.Now += TimeSpan.FromSeconds(1);
            Rest(id, "ada", device);
        }

        Assert.Equal(["e2", "e1"], await MailAsync("ada", "phone"));
        Assert.Equal(["e3"], await MailAsync("ada", "tab"));
        Assert.Equal(2, Journal.CountMail(App, "ada", "phone"));
        Assert.True(Journal.Rests(App, "e1", "ada", "phone"));
        Assert.False(Journal.Rests(App, "e1", "ada", "tab"));
        Assert.False(Journal.Rests(App, "e3", "ada", "phone"));
        await ReopenAsync();
        var mail = await Journal.ReadMailAsync(App, "ada", "phone", null, default);
        Assert.Equal(["e2", "e1"], mail.Select(static one => one.Event.Id));
        Assert.All(mail, static one => Assert.True(one is { IsSettled: true, IsAlone: false }));
        Assert.Empty(await MailAsync("ada", "watch"));
        Assert.Empty(await MailAsync("bob", "phone"));
        Assert.Equal(0, Journal.CountMail(App, "bob", "phone"));
        Assert.Equal(0, Journal.CountMail("another", "ada", "phone"));
    }

    [Theory(Timeout = 30_000)]
    [InlineData(MilestoneKind.AckedLate)]
    [InlineData(MilestoneKind.Dropped)]
    [InlineData(MilestoneKind.Settled)]
    public async Task ReadMailAsync_DeliveryHasLeftItsMailbox_RestsNoMore(MilestoneKind end)
    {
        await AppendAsync(Make("e1", "{}"));
        await AppendAsync(Make("e2", "{}"));
        Rest("e1", "ada", "phone");
        Rest("e1", "ada", "tab");
        Rest("e2", "ada", "phone");
        Note("e1", end, "ada", "phone");
        Assert.Equal(["e2"], await MailAsync("ada", "phone"));
        Assert.Equal(["e1"], await MailAsync("ada", "tab"));
        await ReopenAsync();
        Assert.Equal(["e2"], await MailAsync("ada", "phone"));
        Assert.Equal(["e1"], await MailAsync("ada", "tab"));
    }

    [Fact(Timeout = 30_000)]
    public async Task ReadMailAsync_FinishedOrWithdrawn_IsLeftOut()
    {
        foreach (var id in new[] { "finished", "from-ada", "from-all", "from-bob" })
        {
            await AppendAsync(Make(id, "{}"));
            Rest(id, "ada", "phone");
        }

        Journal.Finish(App, "finished");
        await Journal.WithdrawAsync(App, "from-ada", "ada", "answered", Time.Now, default);
        await Journal.WithdrawAsync(App, "from-all", null, "withdrawn", Time.Now, default);
        await Journal.WithdrawAsync(App, "from-bob", "bob", "answered", Time.Now, default);
        Assert.Equal(["from-bob"], await MailAsync("ada", "phone"));
        await ReopenAsync();
        Assert.Equal(["from-bob"], await MailAsync("ada", "phone"));
    }

    [Fact(Timeout = 30_000)]
    public async Task RecoverAsync_EventRests_IsLeftOutAndItsIdStands()
    {
        foreach (var id in new[] { "e1", "e2" })
        {
            await AppendAsync(Make(id, "{}"));
            Rest(id, "ada", "phone");
        }

        Journal.Note(At("e1", MilestoneKind.Rested, null, null));
        await Journal.FlushAsync(default);
        await ReopenAsync();
        Assert.Equal(["e2"], (await RecoverAsync()).Select(static one => one.Event.Id));
        Assert.Equal(AppendResult.Duplicate, await AppendAsync(Make("e1", "{}")));
        Assert.Equal(AppendResult.Conflict, await AppendAsync(Make("e1", """{"a":1}""")));
        Assert.Equal(["e1", "e2"], await MailAsync("ada", "phone"));

        // What is noted later changes nothing of it.
        Note("e1", MilestoneKind.AckedLate, "ada", "phone");
        await ReopenAsync();
        Assert.Equal(["e2"], (await RecoverAsync()).Select(static one => one.Event.Id));
        Assert.Equal([MilestoneKind.Planned, MilestoneKind.Settled, MilestoneKind.Rested, MilestoneKind.Rested, MilestoneKind.AckedLate],
            (await Journal.ReadAsync(App, "e1", default))!.Milestones.Select(static one => one.Kind));
    }

    [Fact(Timeout = 30_000)]
    public async Task ReadOverAsync_EndHasCome_GivesEachDeliveryOnceAndAgainAfterARestart()
    {
        foreach (var id in new[] { "e1", "e2", "later" })
        {
            await AppendAsync(Make(id, "{}"));
        }

        Rest("e1", "ada", "phone");
        Rest("e1", "bob", "phone");
        Rest("e2", "ada", "phone");
        Rest("later", "ada", "phone", TimeSpan.FromHours(2));
        Note("e1", MilestoneKind.Framed, "ada", "tab");
        Assert.Empty(await OverAsync(TimeSpan.FromMinutes(59)));
        Assert.Single(await OverAsync(TimeSpan.FromHours(1), most: 1));
        Assert.Equal(2, (await OverAsync(TimeSpan.FromHours(1))).Count);
        Assert.Empty(await OverAsync(TimeSpan.FromHours(1)));
        await ReopenAsync();
        Assert.Equal(["e1 ada phone", "e1 bob phone", "e2 ada phone"], await OverAsync(TimeSpan.FromHours(1)));
        Note("e1", MilestoneKind.Settled, "bob", "phone");
        Journal.Finish(App, "e2");
        await Journal.FlushAsync(default);
        await ReopenAsync();
        Assert.Equal(["e1 ada phone"], await OverAsync(TimeSpan.FromHours(1)));
        Assert.Equal(["later ada phone"], await OverAsync(TimeSpan.FromHours(3)));
    }

    [Fact(Timeout = 30_000)]
    public async Task PendingMail_SomeRestsWithoutAnEnd_IsCountedByClassAtTheNextStart()
    {
        foreach (var id in new[] { "pending", "acked", "late", "twice" })
        {
            await AppendAsync(Make(id, "{}"));
            Note(id, MilestoneKind.Planned, "ada", "phone", kept: true);
            Journal.Note(At(id, MilestoneKind.Rested, "ada", "phone") with { NextAttemptAt = Time.Now.AddHours(1) });
            await Journal.FlushAsync(default);
        }

        await AppendAsync(Make("settled", "{}"));
        Rest("settled", "ada", "phone");
        Rest("late", "bob", "phone");
        Journal.Note(At("twice", MilestoneKind.Rested, "ada", "phone") with { NextAttemptAt = Time.Now.AddHours(1) });
        Journal.Note(At("acked", MilestoneKind.Settled, "ada", "phone") with { State = "acked" });
        Note("late", MilestoneKind.AckedLate, "bob", "phone");
        await ReopenAsync();
        var pending = Assert.Single(Journal.PendingMail);
        Assert.Equal(((App, At("late", default, null, null).Class), 3), (pending.Key, pending.Value));
    }

    [Fact(Timeout = 30_000)]
    public async Task ReadMailAsync_OfACollapseKey_GivesThoseAlone()
    {
        var of = new Collapse(EventClass.Message, "score");
        foreach (var (id, device, key) in new[] { ("none", "phone", null), ("one", "phone", "score"), ("two", "phone", "news"), ("three", "tab", "score"), ("four", "phone", "score") })
        {
            await AppendAsync(Make(id, "{}"));
            Journal.Note(At(id, MilestoneKind.Rested, "ada", device) with { NextAttemptAt = Time.Now.AddHours(1), CollapseKey = key });
        }

        for (var start = 0; start < 2; start++)
        {
            Assert.Equal(["one", "four"], (await Journal.ReadMailAsync(App, "ada", "phone", of, default)).Select(static one => one.Event.Id));
            Assert.True(Journal.HasMail(App, "ada", "phone", of));
            Assert.False(Journal.HasMail(App, "ada", "watch", of));
            Assert.False(Journal.HasMail(App, "ada", "phone", of with { Class = EventClass.Call }));
            Assert.False(Journal.HasMail(App, "ada", "tab", of with { Key = "news" }));
            await ReopenAsync();
        }

        Note("one", MilestoneKind.AckedLate, "ada", "phone");
        Note("four", MilestoneKind.Dropped, "ada", "phone");
        Assert.Empty(await Journal.ReadMailAsync(App, "ada", "phone", of, default));
        Assert.False(Journal.HasMail(App, "ada", "phone", of));
        Assert.Equal(["none", "two"], await MailAsync("ada", "phone"));
    }

    /// <summary>What the newest milestone of the device says counts, however many of others came after it.</summary>
    [Theory(Timeout = 30_000)]
    [InlineData(0)]
    [InlineData(600)]
    public async Task ReadMailAsync_OthersWereNotedSince_KnowsWhetherItIsSettledAndAlone(int others)
    {
        await AppendAsync(Make("alone", "{}"));
        await AppendAsync(Make("shared", "{}"));
        await AppendAsync(Make("ended", "{}"));
        Journal.Note(At("alone", MilestoneKind.Rested, "ada", "phone") with { NextAttemptAt = Time.Now.AddHours(1), IsAlone = true });
        Journal.Note(At("shared", MilestoneKind.Rested, "ada", "phone") with { NextAttemptAt = Time.Now.AddHours(1), State = "accepted" });
        Rest("ended", "ada", "phone");
        Note("ended", MilestoneKind.AckedLate, "ada", "phone");
        for (var i = 0; i < others; i++)
        {
            foreach (var id in new[] { "alone", "shared", "ended" })
            {
                Note(id, MilestoneKind.Framed, i % 2 == 0 ? "bob" : "ada", "tab");
            }
        }

        var mail = await Journal.ReadMailAsync(App, "ada", "phone", null, default);
        Assert.Equal([("alone", false, true), ("shared", true, false)], mail.Select(static one => (one.Event.Id, one.IsSettled, one.IsAlone)));
    }

    // Planned for a registered device, settled, and out of memory.
    private void Rest(string id, string user, string device, TimeSpan? until = null)
    {
        Note(id, MilestoneKind.Planned, user, device, kept: true);
        Journal.Note(At(id, MilestoneKind.Settled, user, device, kept: true) with { State = "accepted" });
        Journal.Note(At(id, MilestoneKind.Rested, user, device) with { NextAttemptAt = Time.Now + (until ?? TimeSpan.FromHours(1)), State = "accepted" });
    }

    private async Task<IEnumerable<string>> MailAsync(string user, string device) =>
        (await Journal.ReadMailAsync(App, user, device, null, default)).Select(static one => one.Event.Id);

    private async Task<IReadOnlyList<string>> OverAsync(TimeSpan after, int most = int.MaxValue)
    {
        await Journal.FlushAsync(default);
        var over = await Journal.ReadOverAsync(Time.Now + after, most, default);
        return [.. over.SelectMany(static one => one.Deliveries.Select(delivery => $"{one.Event.Id} {delivery.User} {delivery.Device}")).Order(StringComparer.Ordinal)];
    }
}
