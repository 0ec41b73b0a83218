using Pnh.Core.Lanes;
using Pnh.Core.Plans;
using Pnh.Core.Users;

namespace Pnh.Core.Shards;

/// <summary>A push that quiet hours or "do not disturb" keep back. It holds neither the event nor an address: both are read when its time has come. Belongs to its shard, touched under its gate only.</summary>
internal sealed class PushHold(QuietHold quiet, DateTimeOffset until, DeliveryLane lane)
{
    /// <summary>Bytes of heap that it takes besides its item.</summary>
    internal const int Bytes = 48;

    // Ticks, as in an event's progress: hundreds of thousands of these wait for a night.
    private readonly long _told = quiet.Until.UtcTicks;
    private readonly long _until = until.UtcTicks;

    /// <summary>When they end, by the machine's clock: what is told.</summary>
    internal DateTimeOffset Told => new(_told, TimeSpan.Zero);

    /// <summary>The same by the hub's clock.</summary>
    internal DateTimeOffset Until => new(_until, TimeSpan.Zero);

    /// <summary>The lane that it will take, as far as is known.</summary>
    internal DeliveryLane Lane { get; } = lane;

    /// <summary>True once its time has come, or its user's settings have changed: it waits to be planned anew.</summary>
    internal bool IsReleased { get; set; }

    /// <summary>True when the settings changed while it waits so: the user may have been read before.</summary>
    internal bool IsStale { get; set; }
}

/// <summary>A held push whose time has come.</summary>
/// <param name="Shard">Where its user lives.</param>
/// <param name="User">Whose.</param>
/// <param name="Device">Which device of the user.</param>
/// <param name="Item">Its place in the device's mailbox.</param>
internal readonly record struct HeldPush(Shard Shard, UserKey User, string Device, MailboxItem Item);
