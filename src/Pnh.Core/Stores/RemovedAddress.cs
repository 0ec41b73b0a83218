namespace Pnh.Core.Stores;

/// <summary>An address that was taken off its device. The address itself is not kept.</summary>
/// <param name="Device">Whose.</param>
/// <param name="Channel">Of the address.</param>
/// <param name="Kind">As in <see cref="Users.PushAddress.Kind"/>; empty = another device registered an address of the channel.</param>
/// <param name="At">When.</param>
/// <param name="Reason">The provider's word, <c>stale</c>, or <see cref="Moved"/>. Null = the provider gave none.</param>
public sealed record RemovedAddress(string Device, string Channel, string Kind, DateTimeOffset At, string? Reason)
{
    /// <summary>Another device has it now.</summary>
    public const string Moved = "moved";
}
