using Pnh.Core.Users;

namespace Pnh.Core.Stores;

/// <summary>An address that gets no pushes for now: its provider refused it with a word that a wrong account gets for every address.</summary>
/// <param name="User">Whose device has it.</param>
/// <param name="Device">Which.</param>
/// <param name="Address">The address.</param>
/// <param name="Account">The provider account that was refused.</param>
/// <param name="Reason">The provider's word.</param>
/// <param name="At">Since when.</param>
public sealed record RestingAddress(UserKey User, string Device, PushAddress Address, string Account, string? Reason, DateTimeOffset At);
