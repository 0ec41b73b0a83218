using Pnh.Core.Journal;
using Pnh.Core.Users;

namespace Pnh.Core.Progress;

/// <summary>A user's share of an event that the previous process left unfinished. Immutable.</summary>
/// <param name="deliveries">Deliveries to the user that had begun, oldest first.</param>
/// <param name="isWithdrawn">True when the event was taken back from the user.</param>
/// <param name="hadAllBegun">True when every delivery to the user had begun: no device is added.</param>
internal sealed class RestoredUser(IReadOnlyList<UnfinishedDelivery> deliveries, bool isWithdrawn, bool hadAllBegun)
{
    internal IReadOnlyList<UnfinishedDelivery> Deliveries { get; } = deliveries;

    internal bool IsWithdrawn { get; } = isWithdrawn;

    /// <summary>True when the user's devices were planned, for a member of the topic or one of the users; not for a guest of it.</summary>
    internal bool WasPlanned { get; } = deliveries.Any(static delivery => !delivery.IsJoined);

    /// <summary>False when a device of which nothing had begun gets nothing: it came after the dispatch, or the event was taken back before.</summary>
    internal bool AddsDevices { get; } = !hadAllBegun && !isWithdrawn;

    /// <summary>Where the delivery to the device stood; null = it had not begun.</summary>
    internal UnfinishedDelivery? Find(string device)
    {
        foreach (var delivery in Deliveries)
        {
            if (string.Equals(delivery.Device, device, StringComparison.Ordinal))
            {
                return delivery;
            }
        }

        return null;
    }

    /// <summary>
    /// True when a registered device of the user still had something to come, but the registry knows nothing of the user: their rows were lost, or are another
    /// folder's. What was deleted is known.
    /// </summary>
    internal bool IsLost(UserSnapshot snapshot) =>
        !snapshot.IsKnown && Deliveries.Any(static one => !one.IsResting && (one.IsKept || one is { IsRegistered: true, IsSettled: false }));

    /// <summary>True when a session of the device would have been given it, and none was; not what was taken back, or rests: that has its end where it rests.</summary>
    internal bool IsUnseen(UnfinishedDelivery delivery) => !IsWithdrawn && !delivery.IsResting && (delivery.IsKept || delivery is { IsRegistered: false, IsSettled: false });
}
