using Pnh.Core.Events;

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

    /// <summary>True of a call, which rings now or is missed whatever its TTL, and of what ends before the pause is over.</summary>
    internal static bool HasNoTimeForAPause(Event accepted) => accepted.Class == EventClass.Call || accepted.ExpiresAt - accepted.AcceptedAt <= Pause;

    /// <summary>
    /// When the next attempt is due after one of unknown end; null = there is none. The pause is for what may still be answered: what has no time for it is tried again at once when no
    /// answer can come, and only once.
    /// </summary>
    /// <param name="accepted">Whose push.</param>
    /// <param name="isCutOff">No answer can come any more.</param>
    /// <param name="now">The time.</param>
    /// <param name="later">After the pause.</param>
    /// <param name="isTooLate">Its time is over.</param>
    internal DateTimeOffset? Next(Event accepted, bool isCutOff, DateTimeOffset now, DateTimeOffset later, bool isTooLate) =>
        isCutOff && HasNoTimeForAPause(accepted) ? (Unanswered == 1 && !isTooLate ? now : null)
        : Unanswered < MostUnanswered && later < accepted.ExpiresAt ? later
        : null;
}
