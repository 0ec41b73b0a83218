namespace Pnh.Core.Users;

/// <summary>The topics that a user is a member of. Immutable.</summary>
/// <param name="Names">In the order of their UTF-8 bytes; may be empty.</param>
/// <param name="Settings">The user's settings; the default ones when there are no topics, since nothing asks for them then.</param>
public sealed record UserTopics(IReadOnlyList<string> Names, UserSettings Settings)
{
    /// <summary>Of a user who is a member of nothing.</summary>
    public static UserTopics None { get; } = new([], UserSettings.Default);
}
