namespace Pnh.Core.Events;

/// <summary>Names that the core itself must know; every other channel is known by its own name only.</summary>
public static class ChannelNames
{
    /// <summary>The live socket.</summary>
    public const string WebSocket = "websocket";

    /// <summary>The metric label of what left on no channel at all.</summary>
    public const string None = "none";
}
