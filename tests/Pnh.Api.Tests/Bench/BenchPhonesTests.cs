using Pnh.LoadTest.Integrity;
using Pnh.LoadTest.Profiles;

namespace Pnh.Api.Tests.Bench;

public sealed class BenchPhonesTests
{
    [Fact]
    public void Compare_EachAsExpected_FindsNothing() =>
        Assert.Equal((0, 0), PhoneClient.Compare(Counts(("a", 2), ("quiet", 0)), Counts(("a", 2), ("of another run", 5))));

    [Fact]
    public void Compare_OneLostAndOneSpurious_DoNotMakeUpForEachOther() =>
        Assert.Equal((1, 1), PhoneClient.Compare(Counts(("a", 2), ("quiet", 0)), Counts(("a", 1), ("quiet", 1))));

    [Fact]
    public void Compare_PhoneNobodyHeardOf_LostAll() => Assert.Equal((2, 0), PhoneClient.Compare(Counts(("a", 2)), Counts()));

    [Fact]
    public void Taken_SomeRefusedAndSomeBroken_LeavesThemOut()
    {
        var ledger = new MessageLedger();
        for (var i = 0; i < 5; i++)
        {
            ledger.Next(1);
        }

        ledger.Refuse(1, 2);
        ledger.Doubt(1, 4);

        Assert.Equal((3, 0), (ledger.Taken(1), ledger.Taken(2)));
    }

    private static Dictionary<string, long> Counts(params ReadOnlySpan<(string Address, long Count)> counts)
    {
        var found = new Dictionary<string, long>();
        foreach (var (address, count) in counts)
        {
            found[address] = count;
        }

        return found;
    }
}
