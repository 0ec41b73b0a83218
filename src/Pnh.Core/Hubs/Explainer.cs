using Pnh.Core.Events;
using Pnh.Core.Plans;
using Pnh.Core.Shards;
using Pnh.Core.Stores;
using Pnh.Core.Users;

namespace Pnh.Core.Hubs;

/// <summary>What would happen to an event, without anything happening. Thread-safe.</summary>
public sealed class Explainer
{
    private const int ExplainedMembers = 100;
    private readonly ShardContext _context;
    private readonly ShardMap _shards;
    private readonly IDeviceStore _devices;

    internal Explainer(ShardContext context, ShardMap shards, IDeviceStore devices) => (_context, _shards, _devices) = (context, shards, devices);

    /// <summary>The plan per user and device, without anything happening; of a topic for a page of its members.</summary>
    /// <param name="accepted">The event.</param>
    /// <param name="after">Of a topic: a <see cref="EventPlan.Next"/>; empty = from the first member.</param>
    /// <param name="cancellationToken">Ends the reading.</param>
    public async ValueTask<EventPlan> ExplainAsync(Event accepted, string after, CancellationToken cancellationToken)
    {
        var isIdsOnly = _context.ForProviders(accepted).IsIdsOnly;
        if (accepted.To.Topic is not { } name)
        {
            return new EventPlan(await PlanAsync(accepted, accepted.To.Users, cancellationToken).ConfigureAwait(false), Members: null, Next: null) { IsIdsOnly = isIdsOnly };
        }

        var topic = new TopicKey(accepted.App, name);
        var page = await _devices.GetMemberPageAsync(topic, after, ExplainedMembers, cancellationToken).ConfigureAwait(false);
        var count = page.IsLast && after.Length == 0 ? page.Users.Count : await _devices.CountMembersAsync(topic, cancellationToken).ConfigureAwait(false);
        return new EventPlan(await PlanAsync(accepted, page.Users, cancellationToken).ConfigureAwait(false), count, page.IsLast ? null : page.Users[^1]) { IsIdsOnly = isIdsOnly };
    }

    private async ValueTask<UserPlan[]> PlanAsync(Event accepted, IReadOnlyList<string> users, CancellationToken cancellationToken)
    {
        var snapshots = await _devices.GetUsersAsync(accepted.App, users, areHere: false, cancellationToken).ConfigureAwait(false);
        var planned = new UserPlan[users.Count];
        for (var i = 0; i < planned.Length; i++)
        {
            var key = new UserKey(accepted.App, users[i]);
            var plans = new List<DevicePlan>();
            _shards.Of(key).Explain(accepted, key, snapshots[i], plans);
            planned[i] = new UserPlan(users[i], plans);
        }

        return planned;
    }
}

/// <summary>What would happen to an event.</summary>
/// <param name="Users">For each of the users; of a topic for some of its members.</param>
/// <param name="Members">How many members the topic has; null = it is to no topic.</param>
/// <param name="Next">Where the next members begin; null = these were the last.</param>
public sealed record EventPlan(IReadOnlyList<UserPlan> Users, long? Members, string? Next)
{
    /// <summary>True when providers get ids alone of it, and the app fetches the rest.</summary>
    public bool IsIdsOnly { get; init; }
}

/// <summary>The plan for one user; no devices = nobody to deliver to.</summary>
public sealed record UserPlan(string User, IReadOnlyList<DevicePlan> Devices);
