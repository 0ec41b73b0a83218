using Pnh.Core.Events;
using Pnh.Core.Push;

namespace Pnh.Core.Tests.Deliveries;

/// <summary>
/// Numbers and labels that journals, dashboards and clients hold on to. A failure here means: do not renumber or rename, add at the end.
/// </summary>
public sealed class StoredNumbersTests
{
    [Fact]
    public void EventClass_NumbersAndLabels_ArePinned() => Assert.Equal(
        ["0 call", "1 message", "2 bulk", "3 transient"], Enum.GetValues<EventClass>().Select(c => $"{(int)c} {c.Label()}"));

    [Fact]
    public void DeliveryStatus_NumbersAndLabels_ArePinned() => Assert.Equal(
        [
            "0 sent", "1 accepted", "2 address_dead", "3 rejected", "4 throttled", "5 unavailable", "6 misconfigured", "7 not_connected",
            "8 expired", "9 acked", "10 suppressed", "11 unconfirmed",
        ],
        Enum.GetValues<DeliveryStatus>().Select(s => $"{(int)s} {s.Label()}"));

    [Fact]
    public void DeliveryStatus_Count_IsAll() => Assert.Equal(DeliveryStatusNames.Count, Enum.GetValues<DeliveryStatus>().Length);

    [Fact]
    public void DeliveryState_NumbersAndLabels_ArePinned() => Assert.Equal(
        ["0 pending", "1 acked", "2 accepted", "3 expired", "4 withdrawn", "5 suppressed", "6 failed", "7 unconfirmed"],
        Enum.GetValues<DeliveryState>().Select(s => $"{(int)s} {s.Label()}"));

    [Fact]
    public void EventClass_TryParse_OnlyTheFourNames()
    {
        foreach (var @class in EventClassNames.All)
        {
            Assert.True(EventClassNames.TryParse(@class.Label(), out var parsed));
            Assert.Equal(@class, parsed);
        }

        Assert.False(EventClassNames.TryParse("Call", out _));
        Assert.False(EventClassNames.TryParse("0", out _));
        Assert.False(EventClassNames.TryParse("", out _));
    }
}
