using Pnh.Core.Events;
using Pnh.Core.FanOuts;
using Pnh.Core.Push;
using Pnh.Core.Sessions;
using Pnh.Core.Shards;
using Pnh.Core.Users;

namespace Pnh.Core.Dispatch;

/// <summary>Events to topics: members first, then the sessions that joined, but for those of members: their devices have been planned.</summary>
public sealed partial class Hub
{
    private Targets FindTargets(Event accepted)
    {
        if (accepted.To.Topic is not { } topic)
        {
            return new Targets(accepted.To.Users, null, []);
        }

        var key = new TopicKey(accepted.App, topic);
        if (!accepted.IsDurable)
        {
            // Sessions alone: nobody looks for members, or for who is here.
            var recipients = _topics.Find(key)?.ReadTransient() ?? Recipients.None;
            _context.Metrics.DeliveryCounted(ChannelNames.None, accepted.Class, DeliveryStatus.Suppressed, recipients.Held);
            return new Targets([], null, recipients.Subscribers);
        }

        if (_fanOuts.Count > 0 && _fanOuts.Holds(FanOutLine.Of(accepted)))
        {
            return new Targets(null, null, _topics.Find(key)?.Read() ?? []);
        }

        var version = _devices.MembersVersion;
        var known = _topics.Find(key);
        var joined = known?.Read() ?? [];
        if (known?.IsMemberless(version) == true)
        {
            return new Targets(TopicMembers.None.Users, TopicMembers.None, joined);
        }

        if (!_devices.TryGetMembers(key, out var members))
        {
            return new Targets(null, null, joined);
        }

        if (members.Users.Count == 0)
        {
            known?.NoteMemberless(version);
        }

        return new Targets(members.Users, members, joined);
    }

    // A topic that is not in memory, or whose events wait for one before them. False = a fan-out goes on with it, behind the answer.
    private async ValueTask<bool> DispatchTopicAsync(
        Event accepted, EventProgress progress, PastDispatch? past, Subscriber[] joined, TaskCompletionSource stuck)
    {
        if (past is not null)
        {
            return await DispatchPastTopicAsync(accepted, progress, past, stuck).ConfigureAwait(false);
        }

        // Sessions wait neither for a million members nor for a registry: those alone may be more than a page.
        var line = FanOutLine.Of(accepted);
        var sessions = _topics.Find(line.Topic)?.ReadSessions() ?? TopicSessions.None;
        if (sessions.Members.Length < FanOutPages.Members && !_fanOuts.Holds(line)
            && await _reads.TryFewAsync(line.Topic, FanOutPages.Members).ConfigureAwait(false) is { } few)
        {
            await DispatchPageAsync(accepted, progress, past, few, stuck).ConfigureAwait(false);
            await _joined.ServeAsync(accepted, progress, joined, new TopicMembers(few)).ConfigureAwait(false);
            return true;
        }

        var fanOut = new FanOut(accepted, progress, past, sessions, after: string.Empty);
        await _early.BeginAsync(fanOut, _fanOuts.Of(line)).ConfigureAwait(false);
        await _joined.ServeAsync(accepted, progress, sessions.Guests, members: null).ConfigureAwait(false);
        _fanOuts.Add(fanOut);
        return false;
    }

    // What the previous process had not come to: nobody has a session yet.
    private async ValueTask<bool> DispatchPastTopicAsync(Event accepted, EventProgress progress, PastDispatch past, TaskCompletionSource stuck)
    {
        var line = FanOutLine.Of(accepted);
        var page = await ReadPageAsync(line.Topic, past.Reached, accepted, progress, stuck).ConfigureAwait(false);
        await DispatchPageAsync(accepted, progress, past, page.Users, stuck).ConfigureAwait(false);
        if (page.IsLast && !_fanOuts.Holds(line))
        {
            return true;
        }

        _fanOuts.Add(new FanOut(accepted, progress, past, TopicSessions.None, page.Users.Count > 0 ? page.Users[^1] : past.Reached));
        return false;
    }

    /// <summary>Whom an event goes to, as far as memory knows.</summary>
    /// <param name="Users">Users or members, in order; null = the registry has to be read.</param>
    /// <param name="Members">The same for a topic.</param>
    /// <param name="Joined">Sessions that joined the topic.</param>
    private record struct Targets(IReadOnlyList<string>? Users, TopicMembers? Members, Subscriber[] Joined)
    {
        /// <summary>How many of the users are done.</summary>
        public int Served;
    }
}
