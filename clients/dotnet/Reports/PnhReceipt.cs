namespace Pnh.Client.Reports;

/// <summary>The hub took the event.</summary>
/// <param name="Id">The event's id: the one that was given, else the one that was made.</param>
/// <param name="Durable">True = it is on stable storage, and each device of its plan comes to one end. False for transient events, which promise nothing.</param>
/// <param name="Duplicate">True = it was taken before; nothing is sent a second time.</param>
/// <param name="Devices">Zero = it was for one user or device, and there is no device. Null = not said.</param>
public sealed record PnhReceipt(string Id, bool Durable, bool Duplicate = false, int? Devices = null);

/// <summary>What became of one event of many: exactly one of the two.</summary>
/// <param name="Receipt">The hub took it. Null = it refused.</param>
/// <param name="Refusal">Why not. Null = it took it.</param>
public sealed record PnhAnswer(PnhReceipt? Receipt, PnhException? Refusal);
