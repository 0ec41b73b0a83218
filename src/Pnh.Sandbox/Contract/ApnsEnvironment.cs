namespace Pnh.Sandbox.Contract;

/// <summary>Apple's two worlds. Keys and device tokens of one are refused in the other.</summary>
public enum ApnsEnvironment
{
    /// <summary>The development world; the only one that answers with <c>apns-unique-id</c>.</summary>
    Sandbox,

    /// <summary>The world of the App Store.</summary>
    Production,
}
