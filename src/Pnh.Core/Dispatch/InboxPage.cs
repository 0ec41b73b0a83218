using Pnh.Core.Events;

namespace Pnh.Core.Dispatch;

/// <summary>What waits for a device, oldest first.</summary>
/// <param name="Items">Events that the device has not acknowledged, unexpired.</param>
/// <param name="Next">Where to go on; null = that was all for now.</param>
public sealed record InboxPage(IReadOnlyList<Event> Items, string? Next);
