using Pnh.Core.Journal;

namespace Pnh.Storage.Segments.Reads;

/// <summary>Whether an event rests for a device: the newest milestone that decides it does. Takes them newest first.</summary>
internal sealed class DeviceRest(string device)
{
    /// <summary>True when nothing older can change it.</summary>
    public bool IsKnown { get; private set; }

    public bool IsResting { get; private set; }

    /// <summary>True when the delivery has its terminal state.</summary>
    public bool IsSettled { get; private set; }

    /// <summary>True when the event has no other delivery.</summary>
    public bool IsAlone { get; private set; }

    /// <summary>True for a kind that says something of it.</summary>
    public static bool Concerns(MilestoneKind kind) => kind is MilestoneKind.Rested or MilestoneKind.Settled or MilestoneKind.AckedLate or MilestoneKind.Dropped;

    /// <summary>A milestone of the device's user, older than those before.</summary>
    public void Take(in Milestone milestone)
    {
        if (IsKnown || milestone.Device != device || !Concerns(milestone.Kind))
        {
            return;
        }

        IsResting = milestone.Kind == MilestoneKind.Rested;
        IsKnown = IsResting || milestone.EndsRest;
        IsSettled |= milestone.State is not null || milestone.Kind == MilestoneKind.Settled;
        IsAlone = milestone.IsAlone;
    }
}
