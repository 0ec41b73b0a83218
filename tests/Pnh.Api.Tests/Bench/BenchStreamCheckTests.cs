using Pnh.LoadTest.Integrity;
using Pnh.LoadTest.Profiles;

namespace Pnh.Api.Tests.Bench;

public sealed class BenchStreamCheckTests
{
    private readonly StreamCheck _check = new(0, 0);

    [Fact]
    public void Take_CameBeforeTheRestart_IsADuplicate()
    {
        Take(1, 2, 3);
        _check.Restart(3);

        Assert.Equal(Verdict.Duplicate, _check.Take(3));
        Assert.Equal(Verdict.Duplicate, _check.Take(1));
    }

    [Fact]
    public void Take_StillUnderWayAtTheRestart_IsPastOnce()
    {
        Take(1, 3);
        _check.Restart(4);

        Assert.Equal((Verdict.Past, Verdict.Past), (_check.Take(2), _check.Take(4)));
        Assert.Equal((Verdict.Duplicate, Verdict.Duplicate), (_check.Take(2), _check.Take(4)));
        Assert.Equal(Verdict.InOrder, _check.Take(5));
    }

    [Fact]
    public void Take_StillUnderWayAtTheRestartBeforeTheLast_IsPast()
    {
        Take(1, 3);
        _check.Restart(3);
        _check.Restart(5);

        Assert.False(_check.Has(2));
        Assert.Equal(Verdict.Past, _check.Take(2));
        Assert.True(_check.Has(2));
    }

    [Fact]
    public void SelfCheck_Always_SeesEveryFault() => Assert.Equal(0, SelfCheck.Run());

    private void Take(params ReadOnlySpan<long> sequences)
    {
        foreach (var sequence in sequences)
        {
            _check.Take(sequence);
        }
    }
}
