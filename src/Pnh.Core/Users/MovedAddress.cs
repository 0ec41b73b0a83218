namespace Pnh.Core.Users;

/// <summary>A device that lost an address to another one.</summary>
/// <param name="User">Whose it is.</param>
/// <param name="Device">Which.</param>
/// <param name="Channel">The address's channel.</param>
public readonly record struct MovedAddress(string User, string Device, string Channel);
