using System.Collections.Concurrent;
using Pnh.Core.Events;
using Pnh.Core.FanOuts;
using Pnh.Core.Sessions;
using Pnh.TestKit;

namespace Pnh.Core.Tests.Shards;

/// <summary>Which fan-out's page goes next.</summary>
public sealed class FanOutTableTests
{
    private readonly FakeTimeProvider _clock = new();
    private readonly ConcurrentDictionary<string, TaskCompletionSource<bool>> _pages = new();
    private readonly ConcurrentDictionary<string, TaskCompletionSource<bool>> _rests = new();
    private readonly ConcurrentQueue<string> _waited = new();
    private readonly FanOutTable _table;
    private bool _hasRests;

    public FanOutTableTests() => _table = new FanOutTable(
        fanOut => _pages.GetOrAdd(fanOut.Event.Id, static _ => New()).Task,
        (fanOut, _) => _hasRests ? _rests.GetOrAdd(fanOut.Event.Id, static _ => New()).Task : Task.FromResult(true),
        (fanOut, wait) => _waited.Enqueue($"{fanOut.Event.Id} {wait.TotalSeconds:F0}"),
        _clock);

    [Fact]
    public async Task Add_TwoOfMessagesAreServed_ACallGoesAtOnceAndAThirdOfMessagesWaits()
    {
        Add("m1", "a");
        Add("m2", "b");
        Add("m3", "c");
        Add("call", "d", EventClass.Call);
        await ServedAsync("m1", "m2", "call");
        End("call");
        await EndedAsync(3);
        Assert.DoesNotContain("m3", _pages.Keys);
        End("m1");
        await ServedAsync("m2", "m3");
    }

    [Fact]
    public async Task Page_OfAnotherApp_ComesBeforeTheNextOfThisOne()
    {
        Add("a1", "a");
        Add("a2", "b");
        Add("a3", "c");
        await ServedAsync("a1", "a2");
        Add("b1", "a", app: "other");
        Add("c1", "a", app: "third");
        GoOn("a1");
        await ServedAsync("a2", "b1");
        GoOn("a2");
        await ServedAsync("b1", "c1");
        GoOn("b1");
        await ServedAsync("c1", "a1"); // its own turn again, the oldest first
        GoOn("c1");
        await ServedAsync("a1", "b1");
    }

    [Fact]
    public async Task Line_TheNextEventWaitsForTheLastPageOfTheOneBefore()
    {
        Add("m1", "a");
        Add("m2", "a");
        Add("call-1", "a", EventClass.Call);
        Add("call-2", "a", EventClass.Call);
        await ServedAsync("m1", "call-1");
        GoOn("m1");
        await ServedAsync("m1", "call-1");
        End("m1");
        await ServedAsync("m2", "call-1");
        End("call-1");
        await ServedAsync("m2", "call-2");
    }

    [Fact]
    public async Task Line_AnExpiredEventDoesNotWaitForTheOneBefore()
    {
        Add("m1", "a");
        Add("m2", "a", seconds: 30);
        await ServedAsync("m1");
        _clock.Advance(TimeSpan.FromSeconds(31));
        Add("m3", "b");
        await ServedAsync("m1", "m2");
    }

    [Fact]
    public async Task Rest_OthersHaveThePlaceMeanwhile()
    {
        _hasRests = true;
        Add("m1", "a");
        Add("m2", "b");
        Add("m3", "c");
        await ServedAsync("m1", "m2");
        GoOn("m1");
        await ServedAsync("m2", "m3");
        await Waiting.UntilAsync(() => _rests.ContainsKey("m1"), "its rest");
        End("m2");
        await ServedAsync("m3");
        _rests["m1"].SetResult(true);
        await ServedAsync("m1", "m3");
    }

    [Fact]
    public async Task LongOnes_HoldNoPlaceOfShorterOnes()
    {
        var long1 = Add("m1", "a");
        var long2 = Add("m2", "b");
        await ServedAsync("m1", "m2");
        (long1.Pages, long2.Pages) = (64, 64);
        GoOn("m1");
        GoOn("m2");
        await ServedAsync("m1", "m2");
        Add("m3", "c");
        await ServedAsync("m1", "m2", "m3");
        Add("m4", "d", pages: 65);
        _hasRests = true;
        GoOn("m1");
        await Waiting.UntilAsync(() => _rests.ContainsKey("m1"), "its rest");
        Assert.DoesNotContain("m4", _pages.Keys); // a long one's rest is for the machine
        _rests["m1"].SetResult(false);
        await ServedAsync("m2", "m3", "m4");
    }

    [Fact]
    public void IsFull_OfAnAppWithMany_OrOfAnyButThoseWithFew()
    {
        for (var i = 0; i < FanOutTable.MostOfApp; i++)
        {
            Assert.False(_table.IsFull("demo"));
            Add($"e{i}", $"t{i}");
        }

        Assert.True(_table.IsFull("demo"));
        Assert.False(_table.IsFull("other"));
        for (var i = 0; i < 200; i++)
        {
            Add($"f{i}", "t", app: $"app-{i / 60}");
        }

        Assert.True(_table.IsFull("app-3"));
        Assert.False(_table.IsFull("other"));
    }

    [Fact]
    public async Task Wait_IsTheAgeOfTheOldest_AndIsToldOnceWhenItIsLong()
    {
        Add("m1", "a");
        Add("m2", "b");
        await ServedAsync("m1", "m2");
        _clock.Advance(TimeSpan.FromSeconds(3));
        Add("m3", "c");
        _clock.Advance(TimeSpan.FromSeconds(10));
        Assert.Equal((13, 0), (_table.AgeOf(EventClass.Message), _table.AgeOf(EventClass.Call)));
        Add("m4", "d");
        Add("m5", "e");
        Assert.Equal(["m3 10"], _waited);
        End("m1");
        await ServedAsync("m2", "m3");
        End("m2");
        await ServedAsync("m3", "m4");
        Assert.Equal(10, _table.AgeOf(EventClass.Message));
    }

    private FanOut Add(string id, string topic, EventClass @class = EventClass.Message, string app = "demo", int seconds = 3600, int pages = 0)
    {
        var fanOut = new FanOut(
            new Event
            {
                App = app,
                Id = id,
                Class = @class,
                To = EventTarget.ToTopic(topic),
                AcceptedAt = _clock.GetUtcNow(),
                ExpiresAt = _clock.GetUtcNow() + TimeSpan.FromSeconds(seconds),
                Body = default,
            },
            null!,
            TopicSessions.None,
            string.Empty)
        {
            Pages = pages,
        };
        _table.Add(fanOut);
        return fanOut;
    }

    private void End(string id) => Turn(id).SetResult(false);

    private void GoOn(string id) => Turn(id).SetResult(true);

    private TaskCompletionSource<bool> Turn(string id) => _pages.TryRemove(id, out var page) ? page : throw new InvalidOperationException($"{id} has no page now");

    private Task ServedAsync(params string[] ids) => Waiting.UntilAsync(() => _pages.Keys.Order().SequenceEqual(ids.Order()), string.Join(' ', ids));

    private Task EndedAsync(int left) => Waiting.UntilAsync(() => _table.Count == left, "the end");

    private static TaskCompletionSource<bool> New() => new(TaskCreationOptions.RunContinuationsAsynchronously);
}
