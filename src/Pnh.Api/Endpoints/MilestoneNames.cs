using Pnh.Core.Journal;

namespace Pnh.Api.Endpoints;

/// <summary>The names of <see cref="MilestoneKind"/> in JSON.</summary>
internal static class MilestoneNames
{
    /// <summary>Kebab-case; throws on a value outside the enum.</summary>
    public static string Label(this MilestoneKind kind) => kind switch
    {
        MilestoneKind.Dispatched => "dispatched",
        MilestoneKind.Planned => "planned",
        MilestoneKind.Framed => "framed",
        MilestoneKind.Retry => "retry",
        MilestoneKind.Settled => "settled",
        MilestoneKind.AckedLate => "acked-late",
        MilestoneKind.Dropped => "dropped",
        MilestoneKind.Withdrawn => "withdrawn",
        MilestoneKind.Cleared => "cleared",
        MilestoneKind.PushedLate => "pushed-late",
        MilestoneKind.Held => "held",
        MilestoneKind.Reached => "reached",
        MilestoneKind.Unanswered => "unanswered",
        MilestoneKind.Rested => "rested",
        _ => throw new ArgumentOutOfRangeException(nameof(kind), kind, null),
    };
}
