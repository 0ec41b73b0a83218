namespace Pnh.Channels.WebSockets.Protocol;

/// <summary>What became of each topic of a <c>join</c>.</summary>
/// <param name="Joined">The session is in them.</param>
/// <param name="NotAllowed">The token does not allow them.</param>
/// <param name="TooMany">The session would be in more than it may.</param>
internal sealed record JoinAnswer(IReadOnlyList<string> Joined, IReadOnlyList<string> NotAllowed, IReadOnlyList<string> TooMany);
