namespace Pnh.Core.Journal.Segments;

/// <summary>What nobody waits for. Holds ids, not the event, so that bodies can go.</summary>
/// <param name="Kind"><see cref="RecordKind.Milestone"/>, <see cref="RecordKind.Finished"/> (app and event alone) or <see cref="RecordKind.Address"/>.</param>
/// <param name="Milestone">What.</param>
internal readonly record struct Note(RecordKind Kind, Milestone Milestone);
