using Pnh.Core.Journal;
using Pnh.Storage.Segments.Format;

namespace Pnh.Storage.Segments;

/// <summary>What nobody waits for. Holds ids, not the event, so that bodies can go.</summary>
internal readonly struct Note(RecordKind kind, in Milestone milestone)
{
    /// <summary>What.</summary>
    public readonly Milestone Milestone = milestone;

    /// <summary><see cref="RecordKind.Milestone"/>, <see cref="RecordKind.Finished"/> (app and event alone) or <see cref="RecordKind.Address"/>.</summary>
    public readonly RecordKind Kind = kind;
}
