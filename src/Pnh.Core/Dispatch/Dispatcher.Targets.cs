using Pnh.Core.Events;
using Pnh.Core.FanOuts;
using Pnh.Core.Push;
using Pnh.Core.Sessions;
using Pnh.Core.Users;

namespace Pnh.Core.Dispatch;

/// <summary>Whom an event goes to. To a topic: members first, then the sessions that joined, but for those of members, whose devices have been planned.</summary>
internal sealed partial class Dispatcher
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

        if (FanOuts.Count > 0 && FanOuts.Holds(FanOutLine.Of(accepted)))
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

    /// <summary>The sessions of a topic that is long, or not in memory.</summary>
    internal TopicSessions SessionsOf(TopicKey topic) => _topics.Find(topic)?.ReadSessions() ?? TopicSessions.None;

    /// <summary>Whom an event goes to, as far as memory knows.</summary>
    /// <param name="Users">Users or members, in order; null = the registry has to be read.</param>
    /// <param name="Members">The same for a topic.</param>
    /// <param name="Joined">Sessions that joined the topic.</param>
    internal record struct Targets(IReadOnlyList<string>? Users, TopicMembers? Members, Subscriber[] Joined)
    {
        /// <summary>How many of the users are done.</summary>
        public int Served;
    }
}
