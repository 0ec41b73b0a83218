using Pnh.Core.Events;
using Pnh.Core.Push;
using Pnh.Core.Sessions;
using Pnh.Core.Shards;
using Pnh.Core.Stores;
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

    // Some of the sessions that joined, at once.
    private void DispatchJoined(Event accepted, EventProgress? progress, ReadOnlySpan<Subscriber> joined, TopicMembers? members)
    {
        if (joined.IsEmpty)
        {
            return;
        }

        Subscriber.Prefetch(joined);
        if (progress is null)
        {
            _context.SendTransient(accepted, joined);
            return;
        }

        members = members is { Users.Count: > 0 } ? members : null;
        foreach (var subscriber in joined)
        {
            if (members?.Contains(subscriber.Key.User) != true)
            {
                var joiner = (ShardSubscriber)subscriber;
                joiner.Shard.DispatchJoined(progress, accepted, joiner);
            }
        }
    }

    private async ValueTask DispatchJoinedAsync(Event accepted, EventProgress? progress, Subscriber[] joined, TopicMembers? members)
    {
        for (var from = 0; from < joined.Length; from += YieldEvery)
        {
            if (from > 0)
            {
                await _turns.NextAsync();
            }

            DispatchJoined(accepted, progress, joined.AsSpan(from, Math.Min(YieldEvery, joined.Length - from)), members);
        }
    }

    // A topic that is not in memory, or whose events wait for one before them. False = a fan-out goes on with it, behind the answer.
    private async ValueTask<bool> DispatchTopicAsync(
        Event accepted, EventProgress progress, PastDispatch? past, Subscriber[] joined, TaskCompletionSource stuck)
    {
        var topic = new TopicKey(accepted.App, accepted.To.Topic!);
        var reached = past?.Reached ?? string.Empty;
        var page = await ReadPageAsync(topic, reached, accepted, progress, past, stuck).ConfigureAwait(false);
        var isBehind = _fanOuts.Holds(FanOutLine.Of(accepted));
        if ((page.IsLast && !isBehind) || past is not null)
        {
            // What a former run began is taken up before sessions come for it.
            await DispatchPageAsync(accepted, progress, past, page.Users, stuck).ConfigureAwait(false);
            reached = page.Users.Count > 0 ? page.Users[^1] : reached;
        }

        if (page.IsLast && !isBehind)
        {
            await DispatchJoinedAsync(accepted, progress, joined, new TopicMembers(page.Users)).ConfigureAwait(false);
            return true;
        }

        // Sessions do not wait for a million members.
        var members = await FindMembersAsync(topic, joined, accepted, stuck).ConfigureAwait(false);
        await DispatchJoinedAsync(accepted, progress, joined, members).ConfigureAwait(false);
        _fanOuts.Add(new FanOut(accepted, progress, past, reached));
        return false;
    }

    // Which of the sessions' users are members, so that their devices are planned as such; null = that cannot be read, and their sessions get it twice.
    private async ValueTask<TopicMembers?> FindMembersAsync(TopicKey topic, Subscriber[] joined, Event accepted, TaskCompletionSource stuck)
    {
        if (joined.Length == 0)
        {
            return null;
        }

        var users = Array.ConvertAll(joined, static subscriber => subscriber.Key.User);
        for (var failures = 0; ; failures++)
        {
            try
            {
                return await _devices.FindMembersAsync(topic, users, CancellationToken.None).ConfigureAwait(false);
            }
            catch (StoreUnavailableException fault)
            {
                if (!await WaitForStoreAsync(EndOf(accepted), failures, fault.Message, stuck).ConfigureAwait(false))
                {
                    return null;
                }
            }
        }
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
