namespace Pnh.Api.Doctor;

/// <summary>How well something is.</summary>
internal enum Grade
{
    /// <summary>As it should be.</summary>
    Good,

    /// <summary>The hub runs, and somebody should look at it.</summary>
    Doubtful,

    /// <summary>The hub does not start, or cannot do its work.</summary>
    Bad,
}

/// <summary>What a look at one thing showed.</summary>
/// <param name="Grade">How well it is.</param>
/// <param name="What">What was looked at, in a word or two.</param>
/// <param name="Text">What was seen, and the cure where one is needed.</param>
internal sealed record Finding(Grade Grade, string What, string Text);
