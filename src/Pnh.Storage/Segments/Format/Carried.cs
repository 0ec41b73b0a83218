namespace Pnh.Storage.Segments.Format;

/// <summary>What came of an attempt to carry an event.</summary>
internal enum Carried
{
    /// <summary>Its copy is in the group, and the index names it.</summary>
    Whole,

    /// <summary>Part of it: go on after the next commit.</summary>
    InPart,

    /// <summary>It has more milestones than are carried.</summary>
    TooLong,
}
