using Pnh.Core.Deliveries;
using Pnh.Core.Devices;
using Pnh.Core.Events;

namespace Pnh.Core.Shards;

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
        members = members is { Users.Count: > 0 } ? members : null;
        if (progress is null)
        {
            _context.SendTransient(accepted, joined, members);
            return;
        }

        foreach (var subscriber in joined)
        {
            if (members?.Contains(subscriber.Key.User) != true)
            {
                subscriber.Shard.DispatchJoined(progress, accepted, subscriber);
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

    // The members as the registry streams them; they come back for the sessions that joined, null = there are none of these.
    private async ValueTask<TopicMembers?> DispatchMembersAsync(
        Event accepted, EventProgress? progress, PastDispatch? past, Targets targets, TaskCompletionSource stuck)
    {
        var members = targets.Joined.Length > 0 ? new List<string>() : null;
        var users = 0;
        await foreach (var user in MembersAsync(accepted, progress, past, stuck).ConfigureAwait(false))
        {
            members?.Add(user);
            await DispatchUserAsync(accepted, progress, user, past, stuck).ConfigureAwait(false);
            await YieldAsync(++users).ConfigureAwait(false);
        }

        return members is null ? null : new TopicMembers(members);
    }

    // The topic's members, each once; when they cannot be read on, again after the last one given, until the event is over.
    private async IAsyncEnumerable<string> MembersAsync(Event accepted, EventProgress? progress, PastDispatch? past, TaskCompletionSource stuck)
    {
        string? last = null;
        for (var failures = 0; ; failures++)
        {
            var begin = last;
            string? fault;
            var members = TargetsAsync(accepted, CancellationToken.None).GetAsyncEnumerator(CancellationToken.None);
            await using (members.ConfigureAwait(false))
            {
                while ((fault = await TryMoveNextAsync(members).ConfigureAwait(false)) is null)
                {
                    if (begin is null || IsAfter(members.Current, begin))
                    {
                        yield return last = members.Current;
                    }
                }
            }

            if (fault.Length == 0)
            {
                yield break;
            }

            if (!await WaitForStoreAsync(EndOf(accepted), failures, fault, stuck).ConfigureAwait(false))
            {
                progress?.Unread();
                past?.MembersUnread();
                yield break;
            }
        }
    }

    // Null = there is one; empty = that was all; else why it cannot be read.
    private static async ValueTask<string?> TryMoveNextAsync(IAsyncEnumerator<string> members)
    {
        try
        {
            return await members.MoveNextAsync().ConfigureAwait(false) ? null : "";
        }
        catch (StoreUnavailableException fault)
        {
            return fault.Message is "" ? "unavailable" : fault.Message;
        }
    }

    // The registry's order is that of UTF-8; .NET's ordinal one differs from it above U+FFFF.
    private static bool IsAfter(string member, string other) =>
        System.Text.Encoding.UTF8.GetBytes(member).AsSpan().SequenceCompareTo(System.Text.Encoding.UTF8.GetBytes(other)) > 0;

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
