using Pnh.Core.Journal;
using Pnh.Core.Progress;

namespace Pnh.Core.Tests.Shards;

public sealed class PastDispatchTests
{
    private static readonly StoredEvent Stored = new("demo", "e1", true, default, default, null, default);

    [Fact]
    public void TakeLost_WholeTopicWithdrawnOneByOne_ReadsBothListsOnce()
    {
        const int Users = 2_000;
        var names = Enumerable.Range(0, Users).Select(static i => $"user-{i}").ToList();
        var withdrawn = new CountingList<string?>(names);
        var deliveries = new CountingList<UnfinishedDelivery>([.. names.Select(static user => Pending(user, "phone"))]);
        var past = new PastDispatch(new UnfinishedEvent(Stored, true, withdrawn, deliveries));
        var ended = 0;
        foreach (var user in past.Users)
        {
            Assert.True(past.IsWithdrawn(user));
            ended += past.TakeLost(user).Count();
        }

        Assert.Equal(Users, ended);
        Assert.Equal((Users, Users), (withdrawn.Reads, deliveries.Reads));
    }

    [Fact]
    public void TakeLost_OfItsUserOnly_WhatNoPlanAskedForAndHasNoEnd()
    {
        var past = Of([], Pending("ada", "planned"), Pending("eve", "other"), Pending("ada", "gone"), Pending("ada", "done") with { IsSettled = true });
        Assert.NotNull(past.Find("ada", "planned"));
        Assert.Equal(["ada", "eve"], past.Users.Order());
        Assert.Equal(["gone"], LostOf(past, "ada"));
        Assert.Empty(LostOf(past, "ada"));
        Assert.Empty(LostOf(past, "bob"));
        Assert.Equal(["other"], LostOf(past, "eve"));
    }

    [Fact]
    public void IsWithdrawn_FromSomeOrFromAll()
    {
        var some = Of(["ada"]);
        Assert.Equal((true, false), (some.IsWithdrawn("ada"), some.IsWithdrawn("eve")));
        var all = Of(["ada", null]);
        Assert.Equal((true, true), (all.IsWithdrawn("ada"), all.IsWithdrawn("eve")));
        Assert.False(Of([]).IsWithdrawn("ada"));
    }

    private static PastDispatch Of(string?[] withdrawn, params UnfinishedDelivery[] deliveries) =>
        new(new UnfinishedEvent(Stored, false, withdrawn, deliveries));

    private static UnfinishedDelivery Pending(string user, string device) => new(user, device, false, true, 0, null);

    private static IEnumerable<string> LostOf(PastDispatch past, string user) => past.TakeLost(user).Select(static delivery => delivery.Device);
}
