namespace Pnh.Sandbox.Apns;

/// <summary>A request to APNs whose headers were found correct: token in lower case, priority 10 when none was given.</summary>
internal sealed record ReceivedApnsPush(string DeviceToken, PushTypeHeader Type, string BundleId, int Priority, string? CollapseId);
