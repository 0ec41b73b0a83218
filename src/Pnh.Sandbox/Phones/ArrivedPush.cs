namespace Pnh.Sandbox.Phones;

/// <summary>An accepted push, read as the phone's system and the app on it would: what it shows, and what it asks to clear.</summary>
internal sealed record ArrivedPush(
    string Address, PhonePlatform Platform, ReceivedPush Request, ShownNotification? Shown, Clearing? Clears);

/// <summary>What the app on a phone has to remove.</summary>
/// <param name="Event">An event id, or a collapse id.</param>
/// <param name="Reason">The push's <c>pnh-reason</c>; null for none.</param>
internal sealed record Clearing(string Event, string? Reason);
