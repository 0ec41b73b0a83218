using System.Buffers.Text;
using System.Security.Cryptography;
using System.Text;
using Pnh.Core.Events;

namespace Pnh.Core.Push;

/// <summary>What a provider gets of the events of an app that keeps its content to itself: a fixed line, the event's id, its class and how it is shown. Pure; made once for each event.</summary>
internal static class IdsOnly
{
    // Fits where a key may have 32 characters, and is taken there whole: a length of 1 mod 4 would not be.
    private const int KeyBytes = 24;

    private static readonly string[] OwnReasons = ["withdrawn", "answered", "seen"];

    /// <summary>The event for providers.</summary>
    /// <param name="accepted">As it was accepted.</param>
    /// <param name="text">The app's line.</param>
    internal static Event Of(Event accepted, string text) => accepted.Encodings.GetOrAdd("providers", (accepted, text), static state => Make(state.accepted, state.text));

    /// <summary>What takes it back, without a publisher's own word for why.</summary>
    internal static Withdrawal Of(Withdrawal withdrawal) => OwnReasons.Contains(withdrawal.Reason, StringComparer.Ordinal)
        ? withdrawal
        : withdrawal.Encodings.GetOrAdd("providers", withdrawal, static own => new Withdrawal(own.App, own.Event, OwnReasons[0], own.At));

    // Its body, which only the journal and sockets need, is left out too: what waits for a provider is small.
    private static Event Make(Event accepted, string text) => new()
    {
        App = accepted.App,
        Id = accepted.Id,
        IdGiven = accepted.IdGiven,
        To = accepted.To,
        Class = accepted.Class,
        AcceptedAt = accepted.AcceptedAt,
        AcceptedTimestamp = accepted.AcceptedTimestamp,
        ExpiresAt = accepted.ExpiresAt,
        CollapseKey = string.IsNullOrEmpty(accepted.CollapseKey) ? null : Hidden(accepted.App, accepted.CollapseKey),
        Priority = accepted.Priority,
        Notification = accepted.Notification is { } shown ? Line(shown, text) : null,
        IsIdsOnly = true,
    };

    // How loud and how far in front, but no text, address, name or file of the app's.
    private static Notification Line(Notification shown, string text) => new()
    {
        Body = text,
        Badge = shown.Badge,
        Sound = shown.Sound is null ? null : "default",
        Interruption = shown.Interruption,
        Volume = shown.Volume,
        Relevance = shown.Relevance,
    };

    private static string Hidden(string app, string key) => Base64Url.EncodeToString(SHA256.HashData(Encoding.UTF8.GetBytes($"{app}\n{key}")).AsSpan(0, KeyBytes));
}
