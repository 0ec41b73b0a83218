namespace Pnh.Api.Listeners;

/// <summary>Where a node listens, once it does.</summary>
internal static class NodeAddress
{
    /// <summary>The address of this place among all that the node listens at, as a client on this machine would write it.</summary>
    public static Uri Of(WebApplication app, int place) =>
        new(app.Urls.ElementAt(place).Replace("[::]", "localhost", StringComparison.Ordinal).Replace("0.0.0.0", "localhost", StringComparison.Ordinal));
}
