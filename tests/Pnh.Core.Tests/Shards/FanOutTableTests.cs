using System.Collections.Concurrent;
using Pnh.Core.Dispatch;
using Pnh.Core.Events;
using Pnh.Core.Sessions;

namespace Pnh.Core.Tests.Shards;

/// <summary>Which fan-out goes next.</summary>
public sealed class FanOutTableTests
{
    private readonly ConcurrentDictionary<string, TaskCompletionSource> _running = new();
    private readonly FanOutTable _table;

    public FanOutTableTests() => _table = new FanOutTable(fanOut =>
        _running.GetOrAdd(fanOut.Event.Id, static _ => new(TaskCreationOptions.RunContinuationsAsynchronously)).Task);

    [Fact]
    public async Task Add_TwoOfMessagesRun_ACallGoesAtOnceAndAThirdOfMessagesWaits()
    {
        Add("m1", "a");
        Add("m2", "b");
        Add("m3", "c");
        Add("call", "d", EventClass.Call);
        await RunningAsync("m1", "m2", "call");
        End("m1");
        await EndedAsync(3);
        Assert.DoesNotContain("m3", _running.Keys); // the call and m2 are two
        End("call");
        await RunningAsync("m1", "m2", "call", "m3");
    }

    [Fact]
    public async Task End_ACallAndAnOlderMessageWait_TheCallGoesFirst()
    {
        Add("m1", "a");
        Add("call-1", "t", EventClass.Call);
        Add("m2", "b");
        Add("call-2", "t", EventClass.Call); // behind the other of its topic
        await RunningAsync("m1", "call-1");
        End("call-1");
        await RunningAsync("m1", "call-1", "call-2");
        await EndedAsync(3);
        Assert.DoesNotContain("m2", _running.Keys);
    }

    [Fact]
    public async Task End_TwoAppsWait_TheOneWithFewerUnderWayGoesFirst()
    {
        Add("x1", "a");
        Add("x2", "b");
        Add("x3", "c");
        Add("y1", "a", app: "other");
        await RunningAsync("x1", "x2");
        End("x1");
        await RunningAsync("x1", "x2", "y1");
    }

    private void Add(string id, string topic, EventClass @class = EventClass.Message, string app = "demo") => _table.Add(new FanOut(
        new Event
        {
            App = app,
            Id = id,
            Class = @class,
            To = EventTarget.ToTopic(topic),
            AcceptedAt = DateTimeOffset.UnixEpoch,
            ExpiresAt = DateTimeOffset.UnixEpoch,
            Body = default,
        },
        null!,
        null,
        TopicSessions.None,
        string.Empty));

    private void End(string id) => _running[id].SetResult();

    private Task RunningAsync(params string[] ids) => HubUnderTest.UntilAsync(() => _running.Keys.Order().SequenceEqual(ids.Order()), string.Join(' ', ids));

    private Task EndedAsync(int left) => HubUnderTest.UntilAsync(() => _table.Count == left, "the end");
}
