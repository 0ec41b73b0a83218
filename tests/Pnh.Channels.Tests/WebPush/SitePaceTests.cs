using Pnh.Channels.WebPush;
using Pnh.Core.Events;
using Pnh.TestKit;

namespace Pnh.Channels.Tests.WebPush;

/// <summary>A push service that takes so many pushes a minute of a site, and answers 429 to the rest.</summary>
public sealed class SitePaceTests
{
    private static readonly TimeSpan Step = TimeSpan.FromMilliseconds(100);
    private readonly FakeTimeProvider _time = new();
    private readonly SitePace _pace;

    public SitePaceTests() => _pace = new SitePace(_time);

    [Fact]
    public void Refused_FewSubscriptionsOrASmallShare_AreTheirOwn()
    {
        for (var i = 0; i < 100; i++)
        {
            Assert.Null(_pace.Refused(Endpoint(i % 4), TimeSpan.FromMinutes(1)));
        }

        _time.Advance(TimeSpan.FromMinutes(2));
        for (var i = 0; i < 2_000; i++)
        {
            _pace.Accepted();
        }

        for (var i = 0; i < 100; i++)
        {
            Assert.Null(_pace.Refused(Endpoint(i), TimeSpan.FromMinutes(1)));
        }

        Assert.Equal(TimeSpan.Zero, _pace.Take(EventClass.Bulk));
    }

    [Fact]
    public void Take_AThousandPassAMinute_AsksLittleMoreOftenAndAllComeThrough()
    {
        var service = new Service(_time, 1_000);
        var (asked, done) = Run(service, pushes: 20_000, EventClass.Message, TimeSpan.FromMinutes(30));

        Assert.Equal(20_000, done);
        Assert.InRange(asked, 20_000, 24_000);
    }

    [Fact]
    public void Take_ALimitThatIsLifted_IsForgotten()
    {
        var service = new Service(_time, 1_000);
        Run(service, 5_000, EventClass.Message, TimeSpan.FromMinutes(5));
        Assert.True(_pace.IsLimited);
        service.PerMinute = int.MaxValue;

        Run(service, 1, EventClass.Message, TimeSpan.FromMinutes(30));

        Assert.False(_pace.IsLimited);
        Assert.Equal(TimeSpan.Zero, _pace.Take(EventClass.Bulk));
    }

    [Fact]
    public void Take_CallsBesideOthers_NeverWait_AndBulkGivesWayToMessages()
    {
        var service = new Service(_time, 1_000);
        Run(service, 3_000, EventClass.Message, TimeSpan.FromMinutes(1));

        var taken = new Dictionary<EventClass, int> { [EventClass.Call] = 0, [EventClass.Message] = 0, [EventClass.Bulk] = 0 };
        for (var i = 0; i < 600; i++, _time.Advance(Step))
        {
            foreach (var @class in (EventClass[])[EventClass.Bulk, EventClass.Message, EventClass.Message, EventClass.Message])
            {
                taken[@class] += _pace.Take(@class) == TimeSpan.Zero ? 1 : 0;
            }

            Assert.Equal(TimeSpan.Zero, _pace.Take(EventClass.Call));
        }

        Assert.InRange(taken[EventClass.Message], 300, 700);
        Assert.InRange(taken[EventClass.Bulk], 0, 20);
    }

    [Fact]
    public void Refused_NothingIsTaken_WaitsAsToldAndNoneComeBackTogether()
    {
        var waits = Enumerable.Range(0, 100).Select(i => _pace.Refused(Endpoint(i), TimeSpan.FromMinutes(10))).OfType<TimeSpan>().ToList();

        Assert.InRange(waits.Count, 95, 99);
        Assert.All(waits, static wait => Assert.InRange(wait, TimeSpan.FromMinutes(10), TimeSpan.FromMinutes(13)));
        Assert.Equal(waits.Count, waits.Distinct().Count());
        Assert.True(_pace.Take(EventClass.Message) > TimeSpan.FromMinutes(10));
    }

    private static Uri Endpoint(int i) => new($"https://fcm.googleapis.com/wp/{i}");

    // Each waits as it was told, and up to a quarter longer, as the hub lets it.
    private (int Asked, int Done) Run(Service service, int pushes, EventClass @class, TimeSpan most)
    {
        var random = new Random(1);
        var (asked, done) = (0, 0);
        var due = new PriorityQueue<int, TimeSpan>(Enumerable.Range(0, pushes).Select(static i => (i, TimeSpan.Zero)));
        for (var now = TimeSpan.Zero; now < most && (due.Count > 0 || pushes == 1); now += Step, _time.Advance(Step))
        {
            while (due.TryPeek(out var push, out var at) && at <= now)
            {
                due.Dequeue();
                var wait = _pace.Take(@class);
                if (wait == TimeSpan.Zero)
                {
                    asked++;
                    if (service.Take())
                    {
                        _pace.Accepted();
                        done++;
                        continue;
                    }

                    wait = _pace.Refused(Endpoint(push), TimeSpan.FromMinutes(1)) ?? TimeSpan.FromMinutes(1);
                }

                due.Enqueue(push, now + (wait * (1 + (random.NextDouble() / 4))));
            }

            if (pushes == 1)
            {
                _pace.Take(@class);
            }
        }

        return (asked, done);
    }

    private sealed class Service(TimeProvider time, int perMinute)
    {
        private long _minute;
        private int _taken;

        public int PerMinute { get; set; } = perMinute;

        public bool Take()
        {
            var minute = time.GetUtcNow().Ticks / TimeSpan.TicksPerMinute;
            if (minute != _minute)
            {
                (_minute, _taken) = (minute, 0);
            }

            return ++_taken <= PerMinute;
        }
    }
}
