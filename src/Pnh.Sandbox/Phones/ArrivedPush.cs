namespace Pnh.Sandbox.Phones;

/// <summary>An accepted push, read as the phone's system and the app on it would: what it shows, and which event id it asks to clear.</summary>
internal sealed record ArrivedPush(
    string Address, PhonePlatform Platform, ReceivedPush Request, ShownNotification? Shown, string? Withdraws);
