using Pnh.Core.Events;
using Pnh.Core.Journal;
using Pnh.Core.Push;

namespace Pnh.Core.Tests.Shards;

public sealed class UnclearedEventTests
{
    private static readonly DateTimeOffset Start = new(2026, 1, 1, 0, 0, 0, TimeSpan.Zero);

    /// <summary>By looking through all withdrawals for each user it takes minutes; as it is, a second.</summary>
    [Fact(Timeout = 60_000)]
    public async Task Of_WholeTopicPushedAndSeen_IsFoundInOneWalk()
    {
        const int Users = 200_000;
        var milestones = new List<Milestone>(2 * Users);
        for (var i = 0; i < Users; i++)
        {
            milestones.Add(Pushed($"user-{i:d6}"));
        }

        for (var i = Users - 1; i >= 0; i--)
        {
            milestones.Add(Withdrawn($"user-{i:d6}", "seen", 1));
        }

        // Off the test's own thread, or the limit would not be seen.
        Assert.Equal(Users, await Task.Run(() => UnclearedEvent.Of(History(milestones), Start).Count()));
    }

    [Fact]
    public void Of_TakenBackTwice_TheEarlierStandsWithItsTime()
    {
        var found = Of(Pushed("ada"), Pushed("eve"), Withdrawn("ada", "answered: accept", 1), Withdrawn(null, "withdrawn", 2), Withdrawn("eve", "seen", 3));
        Assert.Equal([("ada", "answered", Start.AddMinutes(1)), ("eve", "withdrawn", Start.AddMinutes(2))], found);
    }

    [Fact]
    public void Of_TheEarlierIsTooOld_IsNotClearedByTheLaterOne()
    {
        var found = Of(Pushed("ada"), Pushed("eve"), Withdrawn("ada", "seen", 0), Withdrawn(null, "withdrawn", 2));
        Assert.Equal([("eve", "withdrawn", Start.AddMinutes(2))], found);
        Assert.Empty(Of(Pushed("ada"), Withdrawn("ada", "seen", 0)));
        Assert.Empty(Of(Pushed("ada"), Withdrawn("eve", "seen", 1)));
    }

    private static IEnumerable<(string User, string Reason, DateTimeOffset At)> Of(params Milestone[] milestones) =>
        UnclearedEvent.Of(History(milestones), Start).Select(static each => (each.User, each.Withdrawal.Reason, each.Withdrawal.At));

    private static EventHistory History(IReadOnlyList<Milestone> milestones) =>
        new(new StoredEvent("demo", "e1", true, Start, Start.AddDays(1), null, default), milestones);

    private static Milestone Pushed(string user) => new("demo", "e1", EventClass.Message, MilestoneKind.Settled, Start)
    {
        User = user,
        Device = "phone",
        State = DeliveryStateNames.Accepted,
        Channel = "fcm",
    };

    private static Milestone Withdrawn(string? user, string reason, int minute) =>
        new("demo", "e1", EventClass.Message, MilestoneKind.Withdrawn, Start.AddMinutes(minute)) { User = user, Reason = reason };
}
