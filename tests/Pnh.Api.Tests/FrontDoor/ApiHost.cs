using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Hosting;
using Microsoft.AspNetCore.Hosting.Server;
using Microsoft.AspNetCore.Hosting.Server.Features;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Logging;
using Pnh.Api.Access;
using Pnh.Api.Configuration;
using Pnh.Api.Listeners;
using Pnh.Api.Problems;
using Pnh.Api.Routing;

namespace Pnh.Api.Tests.FrontDoor;

/// <summary>A small hub without a hub: front door, exception problems, access gate and the endpoints of a test, on two ports of the system's choice.</summary>
internal sealed class ApiHost : IAsyncDisposable
{
    private readonly WebApplication _app;

    private ApiHost(WebApplication app)
    {
        _app = app;
        var addresses = app.Services.GetRequiredService<IServer>().Features.Get<IServerAddressesFeature>()!.Addresses.Select(static a => new Uri(a)).ToList();
        Public = addresses[0].Port;
        Operations = addresses[1].Port;
    }

    public int Public { get; }

    public int Operations { get; }

    public static async Task<ApiHost> StartAsync(
        Action<WebApplication> map, Action<WebApplicationBuilder>? configure = null, PublisherKeys? keys = null, ClientTokens? tokens = null, string? operatorSecret = null)
    {
        var builder = WebApplication.CreateSlimBuilder(["--hostBuilder:reloadConfigOnChange=false"]);
        builder.Logging.ClearProviders();
        var any = new ListenAddress(IsHttps: false, Address: null, Port: 0);
        builder.WebHost.ConfigureKestrel(kestrel => kestrel.Listen(new PnhOptions { Data = "/", Urls = [any], OperationsUrls = [any] }));
        builder.Services.AddSingleton<StopLimit>().AddSingleton(TimeProvider.System).AddSingleton(keys ?? new PublisherKeys([]));
        builder.Services.AddSingleton(tokens ?? new ClientTokens([], TimeProvider.System));
        configure?.Invoke(builder);
        var app = builder.Build();
        app.UseFrontDoor();
        app.UseMiddleware<ExceptionProblems>();
        app.UseAccessGate(operatorSecret);
        map(app);
        using var timeout = new CancellationTokenSource(TimeSpan.FromSeconds(30));
        await app.StartAsync(timeout.Token);
        return new(app);
    }

    public async ValueTask DisposeAsync()
    {
        using var timeout = new CancellationTokenSource(TimeSpan.FromSeconds(10));
        await _app.StopAsync(timeout.Token);
        await _app.DisposeAsync();
    }
}
