using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Hosting;
using Microsoft.AspNetCore.Hosting.Server;
using Microsoft.AspNetCore.Hosting.Server.Features;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Logging;
using Pnh.Api.Access;
using Pnh.Api.WebConsole;

namespace Pnh.Api.Tests.ConsolePage;

/// <summary>The console on one real port, the socket of the "public listener" on another, over a <see cref="FakeHub"/>.</summary>
internal sealed class ConsoleHost : IAsyncDisposable
{
    public const string AdminKey = "admin-key-of-the-test";

    private readonly WebApplication _console;
    private readonly WebApplication _public;
    private int _disposed;

    private ConsoleHost(WebApplication console, WebApplication @public, FakeHub hub)
    {
        _console = console;
        _public = @public;
        Hub = hub;
        Address = AddressOf(console);
    }

    public FakeHub Hub { get; }

    public Uri Address { get; }

    public ConsoleAccess Access => _console.Services.GetRequiredService<ConsoleAccess>();

    public static async Task<ConsoleHost> StartAsync(TimeProvider? time = null)
    {
        var hub = new FakeHub();
        var @public = Build();
        @public.UseWebSockets();
        @public.Map("/v1/socket", hub.RunSocketAsync);
        await @public.StartAsync();
        hub.SocketUrl = $"ws://localhost:{AddressOf(@public).Port}/v1/socket";

        var console = Build(services => services
            .AddSingleton(time ?? TimeProvider.System)
            .AddSingleton<IConsoleSource>(hub)
            .AddSingleton(new LastHour(hub.Totals, null, TimeProvider.System))
            .AddSingleton(new ConsoleAccessOptions { IsAdmin = key => !hub.IsKeyRevoked && key == KeyHash.Of(AdminKey), HostNames = ["ops.example.com"] })
            .AddConsole());
        console.MapConsole();
        await console.StartAsync();
        return new ConsoleHost(console, @public, hub);
    }

    /// <summary>A second call does nothing: one test stops the host itself.</summary>
    public async ValueTask DisposeAsync()
    {
        if (Interlocked.Exchange(ref _disposed, 1) != 0)
        {
            return;
        }

        using var limit = new CancellationTokenSource(TimeSpan.FromSeconds(10));
        await _console.StopAsync(limit.Token);
        await _console.DisposeAsync();
        await _public.StopAsync(limit.Token);
        await _public.DisposeAsync();
        Hub.Dispose();
    }

    private static WebApplication Build(Action<IServiceCollection>? configure = null)
    {
        var builder = WebApplication.CreateSlimBuilder(["--hostBuilder:reloadConfigOnChange=false"]);
        builder.Logging.ClearProviders();
        builder.WebHost.UseUrls("http://127.0.0.1:0");
        configure?.Invoke(builder.Services);
        return builder.Build();
    }

    private static Uri AddressOf(WebApplication app) =>
        new(app.Services.GetRequiredService<IServer>().Features.Get<IServerAddressesFeature>()!.Addresses.Single());
}
