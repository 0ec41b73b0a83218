using Pnh.Core.Timing;
using Pnh.TestKit;

namespace Pnh.Core.Tests.Shards;

public sealed class TimingWheelTests
{
    private static readonly TimeSpan Tick = TimingWheel.Tick;
    private readonly FakeTimeProvider _clock = new();
    private readonly TimingWheel _wheel;
    private readonly List<WheelEntry> _due = [];

    public TimingWheelTests() => _wheel = new TimingWheel(_clock);

    [Theory]
    [InlineData(0)]
    [InlineData(1)]
    [InlineData(62)]
    [InlineData(63)]
    [InlineData(64)]
    [InlineData(65)]
    [InlineData(4_094)]
    [InlineData(4_095)]
    [InlineData(4_096)]
    [InlineData(4_097)]
    [InlineData(262_143)]
    [InlineData(262_144)]
    [InlineData(262_145)]
    public void Advance_AroundACascade_FiresWithinTwoTicks(int ticks)
    {
        foreach (var start in new[] { 0, 1, 63, 64, 4_095 })
        {
            _clock.Advance(Tick * start);
            _wheel.Advance(_due);
            var entry = new Entry();
            _wheel.Schedule(entry, Tick * ticks);
            var left = TicksUntil(entry, ticks + 3);
            Assert.InRange(left, ticks, ticks + 2);
            Assert.Equal(0, _wheel.Count);
        }
    }

    [Fact]
    public void Advance_BetweenTicks_IsNeverEarly()
    {
        _clock.Advance(TimeSpan.FromMilliseconds(19.9));
        var entry = new Entry();
        _wheel.Schedule(entry, TimeSpan.FromMilliseconds(0.2));
        var due = _clock.GetUtcNow().AddMilliseconds(0.2);
        while (_due.Count == 0)
        {
            _clock.Advance(TimeSpan.FromMilliseconds(0.1));
            _wheel.Advance(_due);
        }

        Assert.InRange(_clock.GetUtcNow(), due, due + (Tick * 2));
    }

    [Fact(Timeout = 60_000)]
    public async Task Schedule_AfterALongIdlePause_IsOnTimeAndCatchesUpNoTick()
    {
        _clock.Advance(TimeSpan.FromDays(40_000) + TimeSpan.FromMilliseconds(7)); // tick by tick a quarter of an hour of CPU
        var entry = new Entry();
        _wheel.Schedule(entry, TimeSpan.FromSeconds(30));
        Assert.InRange(await Task.Run(() => TicksUntil(entry, 2_000)), 1_500, 1_502);
    }

    [Fact]
    public void Advance_AfterALongBusyPause_FiresAllThatIsDue()
    {
        var near = new Entry();
        var far = new Entry();
        _wheel.Schedule(near, TimeSpan.FromSeconds(1));
        _wheel.Schedule(far, TimeSpan.FromHours(3));
        _clock.Advance(TimeSpan.FromHours(2));
        _wheel.Advance(_due);
        Assert.Equal([near], _due);
        _clock.Advance(TimeSpan.FromHours(1) + (Tick * 2));
        _wheel.Advance(_due);
        Assert.Equal([near, far], _due);
    }

    [Fact]
    public void Schedule_BeyondTheTopLevel_GoesRoundAgain()
    {
        var entry = new Entry();
        _wheel.Schedule(entry, TimeSpan.FromDays(300));
        _clock.Advance(TimeSpan.FromDays(299.9));
        _wheel.Advance(_due);
        Assert.Empty(_due);
        _clock.Advance(TimeSpan.FromDays(0.1) + (Tick * 2));
        _wheel.Advance(_due);
        Assert.Equal([entry], _due);
    }

    [Fact]
    public void Schedule_Again_MovesTheEntry()
    {
        var entry = new Entry();
        _wheel.Schedule(entry, TimeSpan.FromSeconds(1));
        _wheel.Schedule(entry, TimeSpan.FromSeconds(10));
        Assert.Equal(1, _wheel.Count);
        Assert.InRange(TicksUntil(entry, 600), 500, 502);
    }

    [Fact]
    public void Cancel_Twice_CountsOnce()
    {
        var entry = new Entry();
        _wheel.Schedule(entry, TimeSpan.FromSeconds(1));
        _wheel.Cancel(entry);
        _wheel.Cancel(entry);
        Assert.Equal((0, false), (_wheel.Count, entry.IsScheduled));
        _clock.Advance(TimeSpan.FromSeconds(5));
        _wheel.Advance(_due);
        Assert.Empty(_due);
    }

    [Theory]
    [InlineData(1)]
    [InlineData(2)]
    [InlineData(3)]
    [InlineData(4)]
    public void RandomSchedules_AgainstASortedList_NoneEarlyLateOrLost(int seed)
    {
        var random = new Random(seed);
        var model = new Dictionary<Entry, DateTimeOffset>();
        for (var step = 0; step < 5_000; step++)
        {
            switch (random.Next(5))
            {
                case 0 or 1:
                    var entry = new Entry();
                    var delay = RandomDelay(random);
                    _wheel.Schedule(entry, delay);
                    model[entry] = _clock.GetUtcNow() + delay;
                    break;
                case 2 when model.Count > 0:
                    var some = model.Keys.ElementAt(random.Next(Math.Min(model.Count, 20)));
                    if (random.Next(2) == 0)
                    {
                        _wheel.Cancel(some);
                        model.Remove(some);
                    }
                    else
                    {
                        var moved = RandomDelay(random);
                        _wheel.Schedule(some, moved);
                        model[some] = _clock.GetUtcNow() + moved;
                    }

                    break;
                default:
                    _clock.Advance(random.Next(100) == 0 ? RandomDelay(random) / 50 : Tick * random.NextDouble() * 2);
                    AdvanceAgainst(model);
                    break;
            }

            Assert.Equal(model.Count, _wheel.Count);
        }

        _clock.Advance(TimeSpan.FromDays(29));
        AdvanceAgainst(model);
        Assert.Equal((0, 0), (model.Count, _wheel.Count));
    }

    private void AdvanceAgainst(Dictionary<Entry, DateTimeOffset> model)
    {
        _due.Clear();
        _wheel.Advance(_due);
        var now = _clock.GetUtcNow();
        foreach (var fired in _due.Cast<Entry>())
        {
            Assert.True(model.Remove(fired, out var due), "Fired twice, or after a cancel.");
            Assert.True(due <= now, $"{due - now} early");
        }

        // Whatever is left is either not due, or due within the last two ticks.
        foreach (var due in model.Values)
        {
            if (due <= now - (Tick * 2))
            {
                Assert.Fail($"{now - due} late");
            }
        }
    }

    private static TimeSpan RandomDelay(Random random) => random.Next(6) switch
    {
        0 => TimeSpan.Zero,
        1 => TimeSpan.FromMilliseconds(random.NextDouble() * 100),
        2 => TimeSpan.FromSeconds(random.NextDouble() * 60),
        3 => TimeSpan.FromHours(random.NextDouble() * 24),
        4 => TimeSpan.FromDays(random.NextDouble() * 28),
        _ => Tick * random.Next(5_000),
    };

    // Advances a tick at a time; returns after how many the entry fired.
    private int TicksUntil(Entry entry, int limit)
    {
        _due.Clear();
        for (var tick = 0; tick <= limit; tick++)
        {
            _wheel.Advance(_due);
            if (_due.Contains(entry))
            {
                return tick;
            }

            Assert.True(entry.IsScheduled);
            _clock.Advance(Tick);
        }

        Assert.Fail($"Not fired within {limit} ticks.");
        return -1;
    }

    private sealed class Entry : WheelEntry;
}
