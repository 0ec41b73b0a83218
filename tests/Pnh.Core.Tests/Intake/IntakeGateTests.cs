using Pnh.Core.Events;
using Pnh.Core.Intake;
using Pnh.Core.Tests.Shards;
using Pnh.TestKit;

namespace Pnh.Core.Tests.Intake;

public sealed class IntakeGateTests
{
    private readonly FakeTimeProvider _clock = new();
    private readonly IntakeGate _gate;

    public IntakeGateTests() => _gate = new IntakeGate(_clock, static () => TimeSpan.Zero, CancellationToken.None);

    [Fact]
    public async Task Alone_EventsOfAnUpload_AreNotCounted()
    {
        await using var hub = new HubUnderTest();
        var upload = await _gate.Uploads.EnterAsync([hub.NewEvent("\"class\":\"bulk\"")], CancellationToken.None);
        Assert.True(_gate.TryEnter("demo", EventClass.Message, 0, out var single));
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

    [Fact]
    public void Leave_PlaceThatWasNeverTaken_CountsNothing()
    {
        _gate.Leave(default);
        Assert.Equal(0, _gate.Alone);
    }

    [Fact]
    public void TryEnter_OneAppInCalm_EachClassLeavesItsPartToTheMoreUrgent()
    {
        Assert.Equal(ConcurrencyLimit.Most / 2, Fill("demo", EventClass.Bulk).Count);
        Assert.Equal(ConcurrencyLimit.Most / 8, Fill("demo", EventClass.Transient).Count);
        Assert.Equal(ConcurrencyLimit.Most / 8, Fill("demo", EventClass.Message).Count);
        Assert.Equal(ConcurrencyLimit.Most / 4, Fill("demo", EventClass.Call).Count);
        Assert.Equal("", Taken("demo"));
    }

    [Fact]
    public void TryEnter_OneAppTookAllItCan_AnotherHasItsShareInEveryClass()
    {
        Fill("greedy", EventClass.Call);
        foreach (var @class in EventClassNames.All.ToArray())
        {
            Enter("other", @class, ConcurrencyLimit.Most / 8);
        }

        Assert.Equal("", Taken("other"));
        Assert.Equal("", Taken("greedy"));
    }

    [Fact]
    public void TryEnter_Overload_SixtyFourInsideAreNeverTooMany()
    {
        Narrow();
        for (var inside = 0; inside < 64; inside++)
        {
            Assert.Equal("Call,Message,Bulk,Transient", Taken("demo"));
            Enter("demo", EventClass.Message, 1);
        }
    }

    [Fact]
    public void TryEnter_Overload_BulkIsRefusedFirstThenMessageThenCall()
    {
        Narrow();
        Enter("demo", EventClass.Call, ConcurrencyLimit.Least / 2);
        Assert.DoesNotContain("Bulk", Taken("demo"), StringComparison.Ordinal);
        Assert.Contains("Call,Message", Taken("demo"), StringComparison.Ordinal);
        Enter("demo", EventClass.Call, ConcurrencyLimit.Least / 4);
        Assert.Equal("Call", Taken("demo"));
        Enter("demo", EventClass.Call, ConcurrencyLimit.Least / 4);
        Assert.Equal("", Taken("demo"));
    }

    [Fact]
    public void TryEnter_OverloadWithTwoApps_TheOneBelowItsShareIsNeverRefused()
    {
        Narrow();
        Fill("greedy", EventClass.Call);
        for (var inside = 0; inside < ConcurrencyLimit.Least / 2; inside++)
        {
            Enter("small", EventClass.Bulk, 1);
        }

        Assert.Equal("", Taken("small"));
        Assert.Equal("", Taken("greedy"));
    }

    [Fact]
    public void TryEnter_OverloadWithSeveralApps_NoneIsLetInAboveItsShareOr64()
    {
        Narrow();
        Enter("small", EventClass.Call, 1).ForEach(_gate.Leave);
        Assert.Equal(ConcurrencyLimit.Least / 2, Fill("greedy", EventClass.Call).Count);
        for (var other = 0; other < 14; other++)
        {
            Enter($"small-{other}", EventClass.Call, 1).ForEach(_gate.Leave);
        }

        Assert.Equal(64, Fill("second", EventClass.Call).Count);
    }

    [Fact]
    public void TryEnter_CalmWithSeveralApps_OneMayHaveMoreThanItsShare()
    {
        Enter("small", EventClass.Call, 1).ForEach(_gate.Leave);
        Assert.Equal(ConcurrencyLimit.Most, Fill("greedy", EventClass.Call).Count);
    }

    [Fact]
    public void TryEnter_TheOtherAppIsGone_TheBusyOneHasAllAgain()
    {
        Narrow();
        Enter("small", EventClass.Call, 1).ForEach(_gate.Leave);
        Assert.Equal(1, _gate.Sending);
        Enter("greedy", EventClass.Call, 1);
        Assert.Equal(2, _gate.Sending);
        for (var i = 0; i < 2; i++)
        {
            _clock.Advance(IntakeGate.Turn);
            _gate.Observe(TimeSpan.Zero);
            Enter("greedy", EventClass.Call, 1);
        }

        Assert.Equal(1, _gate.Sending);
    }

    [Fact]
    public void TryEnter_OverloadInPart_TheSameSendersAreRefusedAndTheOthersNever()
    {
        Narrow();
        Enter("demo", EventClass.Call, ConcurrencyLimit.Least * 5 / 8); // the middle between where messages are refused first and last
        var refused = Enumerable.Range(0, 1_000).Where(sender => !Takes("demo", EventClass.Message, sender)).ToArray();
        Assert.InRange(refused.Length, 450, 550);
        for (var i = 0; i < 10; i++)
        {
            Assert.Equal(refused, Enumerable.Range(0, 1_000).Where(sender => !Takes("demo", EventClass.Message, sender)));
        }
    }

    [Fact]
    public void TryEnter_OverloadInPartForARound_EachSenderIsRefusedForItsPartOfIt()
    {
        Narrow();
        Enter("demo", EventClass.Call, ConcurrencyLimit.Least * 5 / 8);
        var refused = new int[50];
        for (var second = 0; second < IntakeGate.Round.TotalSeconds; second++)
        {
            _clock.Advance(TimeSpan.FromSeconds(1));
            _gate.Limit.Refused(); // or the overload would end
            _gate.Observe(ConcurrencyLimit.Target);
            for (var sender = 0; sender < refused.Length; sender++)
            {
                refused[sender] += Takes("demo", EventClass.Message, sender) ? 0 : 1;
            }
        }

        Assert.All(refused, static seconds => Assert.InRange(seconds, 27, 33));
    }

    private List<IntakeGate.Place> Fill(string app, EventClass @class)
    {
        var places = new List<IntakeGate.Place>();
        while (_gate.TryEnter(app, @class, 0, out var place))
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
            Assert.True(_gate.TryEnter(app, @class, places.Count, out var place));
            places.Add(place);
        }

        return places;
    }

    // Classes of which any sender is let in.
    private string Taken(string app) =>
        string.Join(',', EventClassNames.All.ToArray().Where(@class => Enumerable.Range(0, 200).Any(sender => Takes(app, @class, sender))));

    private bool Takes(string app, EventClass @class, int sender)
    {
        var isIn = _gate.TryEnter(app, @class, sender, out var place);
        _gate.Leave(place);
        return isIn;
    }

    private void Narrow()
    {
        while (_gate.Limit.Events > ConcurrencyLimit.Least)
        {
            _clock.Advance(ConcurrencyLimit.Interval);
            _gate.Observe(ConcurrencyLimit.Target * 4);
        }
    }
}
