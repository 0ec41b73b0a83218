using Pnh.Core.Journal;
using Pnh.Core.Users;

namespace Pnh.Core.Tests.Shards;

/// <summary>What must hold after each step, and at the end.</summary>
internal sealed partial class ModelLife
{
    private async Task AssertHoldsAsync()
    {
        _hub.AssertLedger();
        Assert.All(_links, each => Assert.Empty(each.Link.Broken));
        foreach (var push in _hub.Fcm.Sent.Where(p => !p.IsClear))
        {
            var accepted = _book.Events[push.Event];
            Assert.Null(accepted.To.Topic); // it has no members here
            Assert.True(push.At < accepted.ExpiresAt || push.At == accepted.AcceptedAt, $"{push.Event} was pushed after its end");
        }

        Assert.All(_pushesWhenDone, done => Assert.Equal(done.Value, Pushes(done.Key.Event, done.Key.Device)));
        foreach (var device in Registered)
        {
            var waiting = _book.Waiting(device, _hub.Now).ToArray();
            Assert.Equal(waiting.Order(), await InboxAsync(device));
            if (_open.TryGetValue(device, out var session) && session.Link is { IsConnected: true, IsRoomy: true } && waiting.Length < 100)
            {
                Assert.Empty(waiting.Except(session.Link.Frames.Select(f => f.Id)));
            }
        }
    }

    private async Task<IEnumerable<string>> InboxAsync(string device)
    {
        var ids = new List<string>();
        string? after = null;
        do
        {
            var page = await _hub.Hub.Inbox.ReadAsync(new UserKey("demo", "ada"), device, after, CancellationToken.None);
            ids.AddRange(page.Items.Where(e => e.To.Topic is null).Select(e => e.Id)); // a topic's are the session's, while it lasts
            after = page.Next;
        }
        while (after is not null);

        return ids.Order();
    }

    private void AssertOver()
    {
        _hub.AssertLedger();
        Assert.Equal((0, 0, 0, 0), (_hub.Hub.Shards.Timers, _hub.Hub.Shards.Users, _hub.Hub.Shards.InFlight, _hub.Hub.Topics.Count));
        var known = _book.Events.Keys.Except(_overAtRestart).ToHashSet();
        var rested = _hub.Journal.Milestones.Where(static m => m.Kind == MilestoneKind.Rested).Select(static m => m.Event).ToHashSet(); // these end with their TTL
        Assert.Empty(known.Except(_hub.Journal.Finished).Except(rested));
        var ends = _hub.Journal.Settled.Select(m => (m.Event, m.User, m.Device)).ToHashSet();
        Assert.All(
            _hub.Journal.Milestones.Where(m => m.Kind == MilestoneKind.Planned && known.Contains(m.Event)),
            planned => Assert.Contains((planned.Event, planned.User, planned.Device), ends));
        Assert.All(
            _hub.Journal.Milestones.Where(m => m.Kind == MilestoneKind.Cleared).CountBy(m => (m.Event, m.User, m.Device, m.Channel)),
            cleared => Assert.Equal(1, cleared.Value));
    }
}
