namespace Pnh.Sandbox.Phones;

/// <summary>Whose phone it is.</summary>
public enum PhonePlatform
{
    /// <summary>Addressed by an APNs device token.</summary>
    Ios,

    /// <summary>Addressed by an FCM registration token or Firebase installation id.</summary>
    Android,

    /// <summary>A browser, by the name in its Web Push endpoint.</summary>
    Browser,
}

/// <summary>A notification on a lock screen.</summary>
/// <param name="Title">Empty when the push had none.</param>
/// <param name="Body">Empty when the push had none.</param>
/// <param name="At">When it arrived.</param>
/// <param name="PushType">The <c>apns-push-type</c>; <c>notification</c> for FCM, <c>webpush</c>.</param>
/// <param name="Priority">APNs: <c>10</c>, <c>5</c>, <c>1</c>; FCM: <c>HIGH</c>, <c>NORMAL</c>; the <c>Urgency</c> of Web Push.</param>
/// <param name="CollapseId">The <c>apns-collapse-id</c>, the Android tag, the browser's <c>tag</c>; null for none.</param>
/// <param name="EventId">The value under <c>pnh-id</c> in payload or data, <c>id</c> in a browser; null for none.</param>
/// <param name="Payload">The JSON: APNs payload, FCM's <c>data</c>, or what the browser decrypted.</param>
public sealed record ShownNotification(
    string Title, string Body, DateTimeOffset At, string PushType, string Priority, string? CollapseId, string? EventId, string Payload);

/// <summary>A notification that a later push took from the lock screen.</summary>
/// <param name="Shown">What was to be seen.</param>
/// <param name="At">When it went.</param>
/// <param name="Reason">The <c>pnh-reason</c> of the push that cleared it; null for none.</param>
public sealed record ClearedNotification(ShownNotification Shown, DateTimeOffset At, string? Reason);

/// <summary>An accepted request as it came in.</summary>
/// <param name="At">When it arrived.</param>
/// <param name="Headers">Names in lower case, in the order received; credentials included, so never print them.</param>
/// <param name="Body">The bytes of the body.</param>
public sealed record ReceivedPush(DateTimeOffset At, IReadOnlyList<KeyValuePair<string, string>> Headers, ReadOnlyMemory<byte> Body)
{
    /// <summary>The first value of a header; null when it was absent.</summary>
    public string? Header(string name) => Headers.FirstOrDefault(header => header.Key == name).Value;
}

/// <summary>A fake phone at one moment: a snapshot that does not change.</summary>
/// <param name="Address">APNs token in lower case, FCM token or FID, browser's name.</param>
/// <param name="Platform">Whose phone.</param>
/// <param name="Name">What <see cref="SandboxPhones.Name"/> called it; null for no name.</param>
/// <param name="Received">Pushes accepted for it since the start, shown or not.</param>
/// <param name="LockScreen">Newest first.</param>
/// <param name="Cleared">What was on it and was withdrawn, newest first; as many as the lock screen keeps.</param>
/// <param name="Requests">The last requests, newest first.</param>
public sealed record Phone(
    string Address,
    PhonePlatform Platform,
    string? Name,
    long Received,
    IReadOnlyList<ShownNotification> LockScreen,
    IReadOnlyList<ClearedNotification> Cleared,
    IReadOnlyList<ReceivedPush> Requests);
