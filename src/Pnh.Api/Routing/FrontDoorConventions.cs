using Pnh.Api.Listeners;

namespace Pnh.Api.Routing;

/// <summary>What an endpoint says of its place, as metadata; without it an endpoint is a business one on the public listener.</summary>
/// <param name="OnPublic">Reachable on the public listener.</param>
/// <param name="OnOperations">Reachable on the operations listener.</param>
/// <param name="IsLight">Run by the front door itself: no routing, no authentication, no exception problems.</param>
internal sealed record EndpointPlace(bool OnPublic, bool OnOperations, bool IsLight)
{
    /// <summary>The default.</summary>
    public static EndpointPlace Business { get; } = new(OnPublic: true, OnOperations: false, IsLight: false);

    /// <summary>What the endpoint says, or the default.</summary>
    public static EndpointPlace Of(Endpoint endpoint) => endpoint.Metadata.GetMetadata<EndpointPlace>() ?? Business;

    /// <summary>True when it may be reached there.</summary>
    public bool IsOn(Listener listener) => listener == Listener.Operations ? OnOperations : OnPublic;
}

/// <summary>How endpoints name their place.</summary>
internal static class FrontDoorConventions
{
    /// <summary>Only on the operations listener.</summary>
    public static TBuilder OnOperations<TBuilder>(this TBuilder builder)
        where TBuilder : IEndpointConventionBuilder => builder.WithMetadata(new EndpointPlace(OnPublic: false, OnOperations: true, IsLight: false));

    /// <summary>
    /// On both listeners and answered by the front door: for <c>/healthz</c> and <c>/readyz</c>. Such an endpoint gets no route values and
    /// no caller; HEAD is answered wherever GET is.
    /// </summary>
    public static TBuilder Light<TBuilder>(this TBuilder builder)
        where TBuilder : IEndpointConventionBuilder => builder.WithMetadata(new EndpointPlace(OnPublic: true, OnOperations: true, IsLight: true));

    /// <summary>
    /// Puts the front door first and routing behind it. Call before any other middleware: without an explicit UseRouting here, the host
    /// would put routing in front of everything. Endpoints may be mapped later, until the host starts.
    /// </summary>
    public static TApplication UseFrontDoor<TApplication>(this TApplication app)
        where TApplication : IApplicationBuilder, IEndpointRouteBuilder
    {
        IEndpointRouteBuilder endpoints = app;
        app.Use(next => new FrontDoor(next, RouteTable.Build(endpoints.DataSources.SelectMany(static source => source.Endpoints))).InvokeAsync);
        app.UseRouting();
        return app;
    }
}
