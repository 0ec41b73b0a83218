using Pnh.Core.Lanes;
using Pnh.TestKit;

namespace Pnh.Core.Tests.Deliveries;

public sealed class BulkPaceTests
{
    private static readonly TimeSpan Short = BulkPace.Target / 4;
    private static readonly TimeSpan Long = BulkPace.Target * 10;
    private static readonly TimeSpan Look = TimeSpan.FromMilliseconds(10);
    private readonly FakeTimeProvider _clock = new();
    private readonly BulkPace _pace;

    public BulkPaceTests() => _pace = new BulkPace(_clock);

    [Fact]
    public void Observe_NoWaitAndUsedUp_Widens()
    {
        Observe(Short, times: 100, isUsedUp: true);
        Assert.InRange(_pace.Width, 640, 4_096);
    }

    [Fact]
    public void Observe_NoWaitButNobodyWantsMore_Stays()
    {
        var before = _pace.Width;
        Observe(Short, times: 1_000, isUsedUp: false);
        Assert.Equal(before, _pace.Width);
    }

    [Fact]
    public void Observe_WorkWaits_NarrowsButNeverShuts()
    {
        Observe(Short, times: 1_000, isUsedUp: true);
        var wide = _pace.Width;
        Observe(Long, times: 20, isUsedUp: true);
        Assert.InRange(_pace.Width, wide / 8, wide / 2);
        Observe(Long, times: 1_000, isUsedUp: true);
        Assert.Equal(64, _pace.Width);
    }

    [Fact]
    public void Observe_OneLongWait_CostsLittle()
    {
        Observe(Short, times: 1_000, isUsedUp: true);
        var wide = _pace.Width;
        Observe(Long, times: 1, isUsedUp: true);
        Observe(Short, times: 10, isUsedUp: true);
        Assert.InRange(_pace.Width, wide * 3 / 4, wide);
    }

    [Fact]
    public void Batch_WhileBulkWaits_IsSmall()
    {
        Assert.Equal(BulkPace.WholeBatch, _pace.Batch);
        _pace.Queued(1);
        Assert.Equal(BulkPace.SmallBatch, _pace.Batch);
        _pace.Taken(1);
        Assert.Equal(BulkPace.WholeBatch, _pace.Batch);
    }

    [Fact]
    public void WaitForRoom_FewWait_IsOverAtOnce()
    {
        _pace.Queued(BulkPace.MostWaiting);
        Assert.True(_pace.WaitForRoomAsync(CancellationToken.None).AsTask().IsCompletedSuccessfully);
    }

    [Fact]
    public async Task WaitForRoom_ManyWaitAndAreTaken_LastsUntilFewDo()
    {
        _pace.Queued(BulkPace.MostWaiting + 30);
        var waiting = _pace.WaitForRoomAsync(CancellationToken.None).AsTask();
        for (var i = 0; i < 29; i++)
        {
            _pace.Taken(1);
            _clock.Advance(Look);
            await _clock.WaitForTimersAsync(1);
            Assert.False(waiting.IsCompleted);
        }

        _pace.Taken(1);
        _clock.Advance(Look);
        await waiting.WaitAsync(TimeSpan.FromSeconds(20));
    }

    [Fact]
    public async Task WaitForRoom_NoneIsTaken_GivesUpAfterALook()
    {
        _pace.Queued(2 * BulkPace.MostWaiting);
        var waiting = _pace.WaitForRoomAsync(CancellationToken.None).AsTask();
        Assert.False(waiting.IsCompleted);
        _clock.Advance(Look);
        await waiting.WaitAsync(TimeSpan.FromSeconds(20));
    }

    private void Observe(TimeSpan wait, int times, bool isUsedUp)
    {
        for (var i = 0; i < times; i++)
        {
            if (isUsedUp)
            {
                _pace.UsedUp();
            }

            _pace.Observe(wait);
        }
    }
}
