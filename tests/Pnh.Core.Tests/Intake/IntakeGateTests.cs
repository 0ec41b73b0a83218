using Pnh.Core.Events;
using Pnh.Core.Intake;
using Pnh.Core.Tests.Shards;
using Pnh.TestKit;

namespace Pnh.Core.Tests.Intake;

public sealed class IntakeGateTests
{
    private static readonly int Room = IntakeGate.Room * Environment.ProcessorCount;
    private readonly FakeTimeProvider _clock = new();
    private readonly IntakeGate _gate;
    private TimeSpan _cpu;

    public IntakeGateTests() => _gate = new IntakeGate(_clock, () => _cpu, CancellationToken.None);

    [Fact]
    public async Task Alone_EventsOfAnUpload_AreNotCounted()
    {
        await using var hub = new HubUnderTest();
        var upload = await _gate.Uploads.EnterAsync([hub.NewEvent("\"class\":\"bulk\"")], CancellationToken.None);
        Assert.True(_gate.TryEnter("demo", EventClass.Message, out var single));
        Assert.Equal(1, _gate.Alone);
        Assert.Equal(1, _gate.Inside(EventClass.Bulk));
        _gate.Uploads.Leave(upload!);
        Assert.Equal(0, _gate.Inside(EventClass.Bulk));
        Assert.Equal(1, _gate.Alone);
        _gate.Leave(single);
        Assert.Equal(0, _gate.Alone);
        Assert.Equal(0, _gate.Inside(EventClass.Message));
    }

    [Fact]
    public void TryEnter_NoPlaceIsLeft_CountsNothing()
    {
        var places = Fill("demo", EventClass.Message);
        Assert.Equal(places.Count, _gate.Alone);
        Assert.Equal(places.Count, _gate.Inside(EventClass.Message));
        places.ForEach(_gate.Leave);
        Assert.Equal(0, _gate.Alone);
    }

    [Theory]
    [InlineData(EventClass.Call)]
    [InlineData(EventClass.Message)]
    [InlineData(EventClass.Bulk)]
    [InlineData(EventClass.Transient)]
    public void TryEnter_OneAppTakesAllItCan_AThirdAsManyAreLeftForAnother(EventClass @class)
    {
        var greedy = Fill("greedy", @class);
        Assert.Equal(greedy.Count, 3 * Fill("other", @class).Count);
        Assert.False(_gate.TryEnter("third", @class, out _));
        _gate.Leave(greedy[0]);
        Assert.True(_gate.TryEnter("third", @class, out _));
    }

    [Fact]
    public void Sheds_TwoAppsInOverload_TheOneBelowItsShareIsNeverRefused()
    {
        Fill("greedy", EventClass.Call);
        for (var inside = 0; inside < Room / 2; inside++)
        {
            Overload();
            Assert.Equal("", Refused("small"));
            Assert.True(_gate.TryEnter("small", EventClass.Bulk, out _));
        }

        Assert.Equal("Call,Message,Bulk,Transient", Refused("small"));
    }

    [Fact]
    public void Sheds_TwoAppsInOverload_TheOneAboveItsShareIsRefusedByClassCallsToo()
    {
        Enter("small", EventClass.Call, 1);
        var inside = Enter("greedy", EventClass.Call, Room - 1);
        Overload();
        Assert.Equal("Call,Message,Bulk,Transient", Refused("greedy"));
        _gate.Leave(inside[0]);
        Assert.DoesNotContain("Call", Refused("greedy"), StringComparison.Ordinal);
        Assert.Contains("Message,Bulk,Transient", Refused("greedy"), StringComparison.Ordinal);
    }

    [Fact]
    public void Sheds_OneAppAloneInOverload_NoCallOfItIsRefused()
    {
        Fill("greedy", EventClass.Call);
        Overload();
        Assert.Equal("Message,Bulk,Transient", Refused("greedy"));
    }

    [Fact]
    public void Sheds_TheOtherAppIsGone_TheBusyOneHasAllAgain()
    {
        Enter("small", EventClass.Call, 1).ForEach(_gate.Leave);
        Enter("greedy", EventClass.Call, Room);
        Overload();
        Assert.Contains("Call", Refused("greedy"), StringComparison.Ordinal);
        Assert.Equal(2, _gate.Sending);
        for (var i = 0; i < 2; i++)
        {
            _clock.Advance(IntakeGate.Turn);
            _gate.Observe(TimeSpan.FromMilliseconds(20));
            Enter("greedy", EventClass.Call, 1);
        }

        Assert.Equal(1, _gate.Sending);
        Overload();
        Assert.DoesNotContain("Call", Refused("greedy"), StringComparison.Ordinal);
    }

    [Fact]
    public void Sheds_ManyAppsWithoutOverload_NothingIsRefused()
    {
        Enter("small", EventClass.Call, 1);
        Fill("greedy", EventClass.Bulk);
        Fill("greedy", EventClass.Call);
        Assert.Equal("", Refused("greedy"));
    }

    private List<IntakeGate.Place> Fill(string app, EventClass @class)
    {
        var places = new List<IntakeGate.Place>();
        while (_gate.TryEnter(app, @class, out var place))
        {
            places.Add(place);
        }

        return places;
    }

    private List<IntakeGate.Place> Enter(string app, EventClass @class, int count)
    {
        var places = new List<IntakeGate.Place>();
        while (places.Count < count)
        {
            Assert.True(_gate.TryEnter(app, @class, out var place));
            places.Add(place);
        }

        return places;
    }

    // Of which classes anything is refused.
    private string Refused(string app) => string.Join(
        ',', EventClassNames.All.ToArray().Where(@class => Enumerable.Range(0, 200).Any(sender => _gate.Sheds(app, @class, sender))));

    private void Overload()
    {
        while (!_gate.Shedder.IsWatchful)
        {
            for (var e = 0; e < 100; e++)
            {
                _gate.Shedder.Count();
            }

            _clock.Advance(LoadShedder.Window / 10);
            _cpu += LoadShedder.Window / 10 * Environment.ProcessorCount;
            _gate.Observe(TimeSpan.FromMilliseconds(20));
        }
    }
}
