using Pnh.Core.Journal;
using Pnh.Core.Progress;
using Pnh.Core.Users;

namespace Pnh.Core.Tests.Shards;

public sealed class RestoredEventTests
{
    private static readonly StoredEvent Stored = new("demo", "e1", true, default, default, null, default);

    [Fact]
    public void Users_WholeTopicWithdrawnOneByOne_ReadsBothListsOnce()
    {
        const int Users = 2_000;
        var names = Enumerable.Range(0, Users).Select(static i => $"user-{i}").ToList();
        var withdrawn = new CountingList<string?>(names);
        var deliveries = new CountingList<UnfinishedDelivery>([.. names.Select(static user => Pending(user, "phone"))]);
        var restored = new RestoredEvent(new UnfinishedEvent(Stored, true, withdrawn, deliveries));
        Assert.Equal(Users, restored.Users.Count);
        Assert.All(restored.Users.Values, static share => Assert.True(share.IsWithdrawn && share.Deliveries.Count == 1));
        Assert.Equal((Users, Users), (withdrawn.Reads, deliveries.Reads));
    }

    [Fact]
    public void Of_EachUser_HasTheirOwnDeliveriesAlone()
    {
        var restored = Of([], Pending("ada", "phone"), Pending("eve", "other"), Pending("ada", "tab") with { IsJoined = true }, Pending("guest", "tab") with { IsJoined = true });
        Assert.Equal(["ada", "eve", "guest"], restored.Users.Keys.Order());
        Assert.Equal(["phone", "tab"], restored.Of("ada").Deliveries.Select(static one => one.Device));
        Assert.Equal("other", restored.Of("eve").Find("other")!.Device);
        Assert.Null(restored.Of("eve").Find("phone"));
        Assert.Empty(restored.Of("bob").Deliveries);
        Assert.Equal((true, false, false), (restored.Of("ada").WasPlanned, restored.Of("guest").WasPlanned, restored.Of("bob").WasPlanned));
    }

    [Fact]
    public void IsWithdrawn_FromSomeOrFromAll()
    {
        var some = Of(["ada"]);
        Assert.Equal((true, false), (some.Of("ada").IsWithdrawn, some.Of("eve").IsWithdrawn));
        var all = Of(["ada", null]);
        Assert.Equal((true, true), (all.Of("ada").IsWithdrawn, all.Of("eve").IsWithdrawn));
        Assert.False(Of([]).Of("ada").IsWithdrawn);
    }

    [Theory]
    [InlineData(true, "", false, false)]
    [InlineData(false, "", true, true)]
    [InlineData(false, "bob", false, true)]
    public void AddsDevices_DispatchWasCut_BehindWhatHadBegunAlone(bool isComplete, string reached, bool ada, bool eve)
    {
        var restored = new RestoredEvent(new UnfinishedEvent(Stored, isComplete, ["withdrawn"], [Pending("ada", "phone")]) { Reached = reached });
        Assert.Equal((ada, eve, false), (restored.Of("ada").AddsDevices, restored.Of("eve").AddsDevices, restored.Of("withdrawn").AddsDevices));
    }

    [Theory]
    [InlineData(false, false, true)] // registered, without an end
    [InlineData(true, true, true)] // kept
    [InlineData(true, false, false)] // over
    public void IsLost_RegistryKnowsNothingOfTheUser_WhereSomethingIsToCome(bool isSettled, bool isKept, bool isLost)
    {
        var delivery = new UnfinishedDelivery("ada", "phone", isSettled, isKept, 0, null) { IsRegistered = true };
        Assert.Equal(isLost, Of([], delivery).Of("ada").IsLost(UserSnapshot.Empty));
        Assert.False(Of([], delivery).Of("ada").IsLost(UserSnapshot.Gone));
        Assert.False(Of([], delivery with { IsResting = true }).Of("ada").IsLost(UserSnapshot.Empty));
    }

    private static RestoredEvent Of(string?[] withdrawn, params UnfinishedDelivery[] deliveries) => new(new UnfinishedEvent(Stored, false, withdrawn, deliveries));

    private static UnfinishedDelivery Pending(string user, string device) => new(user, device, false, true, 0, null);
}
