namespace Pnh.Core.Push;

/// <summary>What stood in the way of one push so far. Belongs to the user's shard, touched under its gate only.</summary>
internal sealed class PushSetbacks
{
    /// <summary>Attempts of unknown end that one push may have: as many copies of it may be shown at worst.</summary>
    internal const int MostUnanswered = 3;

    /// <summary>The least between such an attempt and the next.</summary>
    internal static readonly TimeSpan Pause = TimeSpan.FromSeconds(30);

    /// <summary>Attempts whose end nobody knows: each may have shown a copy.</summary>
    internal int Unanswered { get; set; }

    /// <summary>The attempt under way is counted among them: its answer may still come.</summary>
    internal bool IsLate { get; set; }

    /// <summary>After an attempt of unknown end: when the next is due; null = there is none.</summary>
    internal DateTimeOffset? NextAttemptAt { get; set; }

    /// <summary>Why it was held back last, as noted; null = never.</summary>
    internal string? HeldFor { get; set; }
}
