using Pnh.Channels.Provider.Sender;
using Pnh.TestKit;

namespace Pnh.Channels.Tests.Http;

public sealed class AddressStandingTests
{
    private readonly FakeTimeProvider _time = new();
    private readonly AddressStanding _standing;

    public AddressStandingTests() => _standing = new AddressStanding(_time);

    [Fact]
    public void Suspects_FewAnswersOrFewBad_Nobody()
    {
        Note(good: 0, bad: AddressStanding.LeastJudged - 1);
        Assert.False(_standing.Suspects("new"));

        var other = new AddressStanding(_time);
        for (var i = 0; i < 1_000; i++)
        {
            other.Note($"a{i}", isBad: i % 20 == 0);
        }

        Assert.False(other.Suspects("new"));
    }

    [Fact]
    public void Suspects_ManyBad_OnlyThoseWithoutAGoodAnswer()
    {
        _standing.Note("good", isBad: false);
        Note(good: 100, bad: 30);

        Assert.True(_standing.Suspects("new"));
        Assert.True(_standing.Suspects("bad-1"));
        Assert.False(_standing.Suspects("good"));
    }

    [Fact]
    public void Suspects_GoodAnswersToTheProven_DoNotDiluteTheShare()
    {
        Note(good: 100, bad: 30);
        for (var i = 0; i < 10_000; i++)
        {
            _standing.Note("good-1", isBad: false);
        }

        Assert.True(_standing.Suspects("new"));
    }

    [Fact]
    public void Suspects_TheListIsOver_NobodyAfterSomeMinutes()
    {
        Note(good: 100, bad: 100);
        Assert.True(_standing.Suspects("new"));

        _time.Advance(TimeSpan.FromMinutes(5));
        _standing.Note("later", isBad: false);

        Assert.False(_standing.Suspects("new"));
    }

    [Fact]
    public void Note_MoreThanTwoFilters_TheLastOnesAreStillKnown()
    {
        for (var i = 0; i < 300_000; i++)
        {
            _standing.Note($"address-{i}", isBad: false);
        }

        for (var i = 0; i < 100; i++)
        {
            _standing.Note($"bad-{i}", isBad: true);
        }

        _time.Advance(TimeSpan.FromMinutes(20));
        Note(good: 0, bad: 100);
        Assert.InRange(Enumerable.Range(0, 1_000).Count(i => _standing.Suspects($"never-seen-{i}")), 900, 1_000);
        for (var i = 170_000; i < 300_000; i++)
        {
            Assert.False(_standing.Suspects($"address-{i}"), $"address-{i}");
        }
    }

    private void Note(int good, int bad)
    {
        for (var i = 0; i < good; i++)
        {
            _standing.Note($"good-{i}", isBad: false);
        }

        for (var i = 0; i < bad; i++)
        {
            _standing.Note($"bad-{i}", isBad: true);
        }
    }
}
