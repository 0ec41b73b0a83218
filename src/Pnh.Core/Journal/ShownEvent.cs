using Pnh.Core.Events;
using Pnh.Core.Push;

namespace Pnh.Core.Journal;

/// <summary>Where an event may be on a screen, as its history says: what has to be cleared when it is taken back.</summary>
internal sealed class ShownEvent
{
    private readonly Dictionary<string, Dictionary<string, Shown>> _users = new(StringComparer.Ordinal);
    private readonly HashSet<string> _done = new(StringComparer.Ordinal);

    internal ShownEvent(EventHistory history, string? onlyUser)
    {
        foreach (var milestone in history.Milestones)
        {
            if (milestone is { Kind: MilestoneKind.Withdrawn, User: { } done } && onlyUser is null)
            {
                // Answered or seen before: cleared then, and never twice.
                _done.Add(done);
            }
            else if (milestone is { User: { } user, Device: { } device } && (onlyUser is null || string.Equals(onlyUser, user, StringComparison.Ordinal)))
            {
                Note(Of(user), device, milestone);
            }
        }
    }

    /// <summary>The users it reached that it was not taken back from before, each with the devices that it was meant for.</summary>
    internal IEnumerable<KeyValuePair<string, Dictionary<string, Shown>>> Users => _users.Where(user => !_done.Contains(user.Key));

    /// <summary>A frame or a push that was under way when it was stopped: it may arrive.</summary>
    internal void Note((string User, string Device, string Channel) sent)
    {
        var devices = Of(sent.User);
        devices.TryGetValue(sent.Device, out var shown);
        devices[sent.Device] = sent.Channel == ChannelNames.WebSocket
            ? shown with { IsFramed = true }
            : shown with { PushedOver = shown.PushedOver ?? sent.Channel };
    }

    private Dictionary<string, Shown> Of(string user)
    {
        if (!_users.TryGetValue(user, out var devices))
        {
            _users.Add(user, devices = new Dictionary<string, Shown>(StringComparer.Ordinal));
        }

        return devices;
    }

    private static void Note(Dictionary<string, Shown> devices, string device, in Milestone milestone)
    {
        devices.TryGetValue(device, out var shown);
        devices[device] = milestone.Kind switch
        {
            MilestoneKind.Framed => shown with { IsFramed = true },
            MilestoneKind.Settled when milestone.State == DeliveryStateNames.Accepted => shown with { PushedOver = milestone.Channel },
            MilestoneKind.PushedLate or MilestoneKind.Unanswered => shown with { PushedOver = milestone.Channel },
            _ => shown,
        };
    }

    /// <summary>One device.</summary>
    /// <param name="IsFramed">A session was given its frame.</param>
    /// <param name="PushedOver">The channel whose provider took it, or may have; null = none.</param>
    internal readonly record struct Shown(bool IsFramed, string? PushedOver);
}
