using Pnh.Core.Timing;
using Pnh.Storage.Files;
using Pnh.TestKit;

namespace Pnh.Core.Tests.Storage;

public sealed class SteadyClockTests : IDisposable
{
    private static readonly DateTimeOffset Start = new(2026, 5, 1, 12, 0, 0, TimeSpan.Zero);
    private static readonly TimeSpan Second = TimeSpan.FromSeconds(1);

    private readonly TemporaryFolder _folder = new();
    private readonly Machine _machine = new();

    public void Dispose() => _folder.Dispose();

    [Theory]
    [InlineData(-86_400)]
    [InlineData(-4)]
    [InlineData(4)]
    [InlineData(3_600)]
    public void Follow_ClockIsSet_GoesOnEvenlyAndSaysItOnce(int seconds)
    {
        var clock = new SteadyClock(_machine, TimeSpan.Zero);
        _machine.Pass(10 * Second);
        Assert.Null(clock.Follow());

        _machine.Set(TimeSpan.FromSeconds(seconds));
        _machine.Pass(Second);

        Assert.Equal(Start + (11 * Second), clock.GetUtcNow());
        Assert.Equal(seconds, clock.Follow()!.Value.TotalSeconds, 3);
        Assert.Null(clock.Follow());
        Assert.Equal((1, -seconds), (clock.Steps, (int)clock.Ahead.TotalSeconds));
        Assert.Equal(_machine.GetUtcNow(), SteadyClock.WallOf(clock).GetUtcNow());

        // And back.
        _machine.Set(TimeSpan.FromSeconds(-seconds));
        Assert.Equal(-seconds, clock.Follow()!.Value.TotalSeconds, 3);
        Assert.Equal(2, clock.Steps);
    }

    [Theory]
    [InlineData(1)]
    [InlineData(-1)]
    public void Follow_SmallDifference_IsFollowedSlowly(int seconds)
    {
        var clock = new SteadyClock(_machine, TimeSpan.Zero);
        _machine.Set(TimeSpan.FromSeconds(seconds));
        for (var last = clock.GetUtcNow(); clock.Ahead != TimeSpan.Zero; last = clock.GetUtcNow())
        {
            _machine.Pass(Second);
            Assert.Null(clock.Follow());
            Assert.InRange(clock.GetUtcNow() - last, Second - TimeSpan.FromMilliseconds(5), Second + TimeSpan.FromMilliseconds(5));
        }

        Assert.Equal(0, clock.Steps);
        Assert.InRange(_machine.GetElapsedTime(0) - TimeSpan.FromHours(1), TimeSpan.FromMinutes(2), TimeSpan.FromMinutes(5));
    }

    [Fact]
    public void StartAfter_WrittenLater_GoesOnFromThere()
    {
        var clock = new SteadyClock(_machine, TimeSpan.Zero);
        Assert.False(clock.StartAfter(Start - Second));
        Assert.True(clock.StartAfter(Start + TimeSpan.FromDays(1)));
        Assert.Equal(Start + TimeSpan.FromDays(1), clock.GetUtcNow());
        Assert.Null(clock.Follow());
    }

    [Theory]
    [InlineData(-86_400, 0)]
    [InlineData(86_400, 0)]
    [InlineData(-86_400, 3_600)]
    public void Folder_NextHubOnTheSameRunOfTheMachine_GoesOnWithTheClock(int set, int down)
    {
        var before = new FolderClock(_folder.FullPath, _machine);
        _machine.Pass(5 * Second);
        before.Write();

        _machine.Set(TimeSpan.FromSeconds(set));
        _machine.Pass(TimeSpan.FromSeconds(down));

        Assert.Equal(Start + TimeSpan.FromSeconds(5 + down), new FolderClock(_folder.FullPath, _machine).Clock.GetUtcNow());
    }

    [Theory]
    [InlineData("another run of the machine")]
    [InlineData("")]
    [InlineData("years behind")]
    public void Folder_NothingThatHolds_TakesTheMachinesClock(string kind)
    {
        var before = new FolderClock(_folder.FullPath, _machine);
        before.Write();
        var file = _folder["hub.clock"];
        File.WriteAllText(file, kind switch { "" => "", "years behind" => File.ReadAllText(file), _ => $"0d65a4de-0000-4000-8000-000000000000 {before.Clock.GetUtcNow().Ticks}" });
        _machine.Set(kind == "years behind" ? TimeSpan.FromDays(365) : TimeSpan.FromHours(1));

        Assert.Equal(_machine.GetUtcNow(), new FolderClock(_folder.FullPath, _machine).Clock.GetUtcNow());
    }

    [Theory]
    [InlineData(true, 1, 1)]
    [InlineData(true, 365, 0)]
    [InlineData(false, 1, 0)]
    public void StartAfter_JournalIsOfLater_CountsOnceAClockWasKept(bool isKept, int daysLater, int daysAhead)
    {
        if (isKept)
        {
            File.WriteAllText(_folder["hub.clock"], "0d65a4de-0000-4000-8000-000000000000 1");
        }

        var folder = new FolderClock(_folder.FullPath, _machine);
        folder.StartAfter(Start + TimeSpan.FromDays(daysLater));
        Assert.Equal(Start + TimeSpan.FromDays(daysAhead), folder.Clock.GetUtcNow());
    }

    [Fact]
    public void BootTime_Timestamps_CountAsTimePasses()
    {
        var time = new BootTime();
        var (started, before) = (TimeProvider.System.GetTimestamp(), time.GetTimestamp());
        SpinWait.SpinUntil(static () => false, 20);
        var elapsed = time.GetElapsedTime(before);
        Assert.InRange(elapsed, TimeSpan.FromMilliseconds(15), TimeProvider.System.GetElapsedTime(started));
    }

    /// <summary>A machine whose clock can be set; its timestamps cannot.</summary>
    private sealed class Machine : TimeProvider
    {
        private TimeSpan _run = TimeSpan.FromHours(1);
        private DateTimeOffset _now = Start;

        public void Pass(TimeSpan time) => (_run, _now) = (_run + time, _now + time);

        public void Set(TimeSpan by) => _now += by;

        public override DateTimeOffset GetUtcNow() => _now;

        public override long TimestampFrequency => TimeSpan.TicksPerSecond;

        public override long GetTimestamp() => _run.Ticks;
    }
}
