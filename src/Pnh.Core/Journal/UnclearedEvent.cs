using Pnh.Core.Events;
using Pnh.Core.Push;

namespace Pnh.Core.Journal;

/// <summary>
/// Where an event that was taken back may still be on a screen after a restart, as its history says: pushed, and no clear of it noted. Frames are left
/// out: their sessions ended with the previous process.
/// </summary>
internal sealed class UnclearedEvent
{
    private readonly Dictionary<string, Dictionary<string, ShownEvent.Shown>> _users = new(StringComparer.Ordinal);
    private readonly HashSet<(string User, string Device)> _acked = [];
    private readonly HashSet<(string User, string Device)> _cleared = [];

    // Places in the history, so that the earlier one is known: a topic event may have as many withdrawals as the topic has members.
    private readonly Dictionary<string, int> _withdrawnFrom = new(StringComparer.Ordinal);
    private readonly int _withdrawnFromAll = int.MaxValue;

    private UnclearedEvent(EventHistory history)
    {
        for (var place = 0; place < history.Milestones.Count; place++)
        {
            var milestone = history.Milestones[place];
            if (milestone is { Kind: MilestoneKind.Withdrawn, User: { } from })
            {
                _withdrawnFrom.TryAdd(from, place);
            }
            else if (milestone.Kind == MilestoneKind.Withdrawn)
            {
                _withdrawnFromAll = Math.Min(_withdrawnFromAll, place);
            }
            else if (milestone is { User: { } user, Device: { } device })
            {
                Take(user, device, milestone);
            }
        }
    }

    /// <summary>Per user what is to be cleared, by the first withdrawal that stands for the user; nothing for one from before <paramref name="since"/>.</summary>
    internal static IEnumerable<(Withdrawal Withdrawal, string User, Dictionary<string, ShownEvent.Shown> Devices)> Of(EventHistory history, DateTimeOffset since)
    {
        if (!IsAnyAfter(since, history))
        {
            yield break;
        }

        var uncleared = new UnclearedEvent(history);
        foreach (var (user, devices) in uncleared._users)
        {
            if (uncleared.FindWithdrawal(user) is { } place && history.Milestones[place] is var taken && taken.At > since
                && uncleared.Rest(user, devices, isAnswer: taken.User is not null) is { Count: > 0 } rest)
            {
                yield return (new Withdrawal(history.Event.App, history.Event.Id, ReasonOf(taken), taken.At), user, rest);
            }
        }
    }

    private static bool IsAnyAfter(DateTimeOffset since, EventHistory history)
    {
        foreach (var milestone in history.Milestones)
        {
            if (milestone.Kind == MilestoneKind.Withdrawn && milestone.At > since)
            {
                return true;
            }
        }

        return false;
    }

    // Where the first that concerns the user is; null = it was not taken back from this one.
    private int? FindWithdrawal(string user)
    {
        var first = Math.Min(_withdrawnFromAll, _withdrawnFrom.GetValueOrDefault(user, int.MaxValue));
        return first == int.MaxValue ? null : first;
    }

    private void Take(string user, string device, in Milestone milestone)
    {
        switch (milestone.Kind)
        {
            case MilestoneKind.Settled when milestone.State == DeliveryStateNames.Accepted:
            case MilestoneKind.PushedLate:
            case MilestoneKind.Unanswered:
                if (!_users.TryGetValue(user, out var devices))
                {
                    _users.Add(user, devices = new Dictionary<string, ShownEvent.Shown>(StringComparer.Ordinal));
                }

                devices[device] = new ShownEvent.Shown(false, milestone.Channel);
                break;
            case MilestoneKind.Cleared when milestone.Channel != ChannelNames.WebSocket:
                _cleared.Add((user, device));
                break;
            case MilestoneKind.AckedLate:
            case MilestoneKind.Settled when milestone.State == DeliveryState.Acked.Label():
                _acked.Add((user, device));
                break;
        }
    }

    // Which device answered is not noted, but it acknowledged: a clear would take the call from the hand that took it.
    private Dictionary<string, ShownEvent.Shown> Rest(string user, Dictionary<string, ShownEvent.Shown> devices, bool isAnswer)
    {
        var rest = new Dictionary<string, ShownEvent.Shown>(StringComparer.Ordinal);
        foreach (var (device, shown) in devices)
        {
            if (!_cleared.Contains((user, device)) && !(isAnswer && _acked.Contains((user, device))))
            {
                rest.Add(device, shown);
            }
        }

        return rest;
    }

    // An answer is noted as "answered: accept": the first half is what a device hears.
    private static string ReasonOf(in Milestone withdrawn)
    {
        var reason = withdrawn.Reason ?? "withdrawn";
        var answer = reason.IndexOf(": ", StringComparison.Ordinal);
        return withdrawn.User is null || answer < 0 ? reason : reason[..answer];
    }
}
