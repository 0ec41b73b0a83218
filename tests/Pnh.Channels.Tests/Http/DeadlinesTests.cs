using Pnh.Channels.Provider.Sender;
using Pnh.TestKit;

namespace Pnh.Channels.Tests.Http;

public sealed class DeadlinesTests
{
    private static readonly TimeSpan Length = TimeSpan.FromSeconds(5);

    private readonly FakeTimeProvider _time = new();
    private readonly Deadlines _deadlines;

    public DeadlinesTests() => _deadlines = new Deadlines(Length, _time);

    [Fact]
    public void Begin_EachAtItsTime_CancelledThenAndNotBefore()
    {
        var first = _deadlines.Begin(default);
        _time.Advance(TimeSpan.FromSeconds(1));
        var second = _deadlines.Begin(default);

        _time.Advance(TimeSpan.FromMilliseconds(3999));
        Assert.False(first.Token.IsCancellationRequested);
        _time.Advance(TimeSpan.FromMilliseconds(1));
        Assert.Equal((true, false), (first.Token.IsCancellationRequested, second.Token.IsCancellationRequested));
        _time.Advance(TimeSpan.FromSeconds(1));
        Assert.True(second.Token.IsCancellationRequested);
        Assert.Equal((true, true), (_deadlines.End(second), _deadlines.End(first)));
        Assert.Equal(0, _time.PendingTimers);
    }

    [Fact]
    public void End_InTime_ServesAgainWithAWholeTimeOfItsOwn()
    {
        var before = _deadlines.Begin(default);
        var heard = 0;
        before.Token.Register(() => heard++);
        _time.Advance(TimeSpan.FromSeconds(4));
        Assert.False(_deadlines.End(before));

        var again = _deadlines.Begin(default);
        Assert.Same(before, again);
        _time.Advance(TimeSpan.FromMilliseconds(4999));
        Assert.False(again.Token.IsCancellationRequested);
        _time.Advance(TimeSpan.FromMilliseconds(1));
        Assert.Equal((true, 0), (again.Token.IsCancellationRequested, heard));
    }

    [Fact]
    public void End_OldestMiddleAndNewest_TheOthersKeepTheirTimes()
    {
        Deadline[] all = [.. Enumerable.Range(0, 5).Select(_ => _deadlines.Begin(default))];
        foreach (var ended in (int[])[0, 2, 4])
        {
            Assert.False(_deadlines.End(all[ended]));
        }

        _time.Advance(Length);
        Assert.Equal([false, true, false, true, false], all.Select(one => one.Token.IsCancellationRequested));
    }

    [Fact]
    public void Cancel_ByTheCaller_NoDeadlineAndNeverUsedAgain()
    {
        using var caller = new CancellationTokenSource();
        var deadline = _deadlines.Begin(caller.Token);
        caller.Cancel();

        Assert.True(deadline.Token.IsCancellationRequested);
        Assert.False(_deadlines.End(deadline));
        Assert.NotSame(deadline, _deadlines.Begin(default));
    }

    [Fact]
    public void Cancel_AfterTheEnd_TheNextUserHearsNothing()
    {
        using var caller = new CancellationTokenSource();
        _deadlines.End(_deadlines.Begin(caller.Token));
        var next = _deadlines.Begin(default);
        caller.Cancel();

        Assert.False(next.Token.IsCancellationRequested);
    }
}
