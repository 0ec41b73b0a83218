namespace Pnh.Core.Journal;

/// <summary>Settings of the embedded journal.</summary>
public sealed record JournalOptions
{
    /// <summary>How long an id is recognised after acceptance; an event with a longer TTL is kept until that ends. Default 24 h.</summary>
    public TimeSpan Retention { get; init; } = TimeSpan.FromHours(24);

    /// <summary>Told the duration of every commit (fsync included) on the writer's thread: quick, must not throw. Null = nobody.</summary>
    public Action<TimeSpan>? OnSync { get; init; }
}
