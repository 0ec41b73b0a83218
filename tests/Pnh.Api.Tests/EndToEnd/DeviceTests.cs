using Microsoft.Extensions.DependencyInjection;
using Pnh.Core.Devices;

namespace Pnh.Api.Tests.EndToEnd;

/// <summary>Registrations and imports, down to what the registry keeps.</summary>
public sealed class DeviceTests : IAsyncLifetime
{
    private TestHub _hub = null!;

    private IDeviceStore Devices => _hub.Host.Services.GetRequiredService<IDeviceStore>();

    public async Task InitializeAsync() => _hub = await TestHub.StartAsync();

    public async Task DisposeAsync() => await _hub.DisposeAsync();

    [Fact]
    public async Task Import_RegisteredAtBehindTheAddresses_DatesThem()
    {
        await ImportAsync("""{"user":"u","device":"d","platform":"ios","apns":{"token":"aa"},"registeredAt":"2020-01-01T00:00:00Z"}""");

        var address = Assert.Single(await AddressesAsync("u"));
        Assert.Equal(new DateTimeOffset(2020, 1, 1, 0, 0, 0, TimeSpan.Zero), address.RegisteredAt);
        Assert.True(await Devices.RemoveAddressAsync(new UserKey("demo", "u"), "d", address, address.RegisteredAt.AddYears(1), CancellationToken.None));
    }

    [Fact]
    public async Task Import_RegisteredInTheFuture_CountsAsNow()
    {
        await ImportAsync("""{"user":"u","device":"d","platform":"ios","registeredAt":"9000-01-01T00:00:00Z","apns":{"token":"aa"}}""");

        var device = Assert.Single((await Devices.GetUserAsync(new UserKey("demo", "u"), CancellationToken.None)).Devices);
        Assert.True(device.RegisteredAt <= TimeProvider.System.GetUtcNow());
        Assert.Equal(device.RegisteredAt, Assert.Single(device.Addresses).RegisteredAt);
    }

    private async Task ImportAsync(string line)
    {
        var answer = await _hub.SendAsync("POST", "/v1/devices:import", line, "application/x-ndjson");
        Assert.Equal(1, answer.Lines[^1].GetProperty("imported").GetInt32());
    }

    private async Task<IReadOnlyList<PushAddress>> AddressesAsync(string user) =>
        Assert.Single((await Devices.GetUserAsync(new UserKey("demo", user), CancellationToken.None)).Devices).Addresses;
}
