namespace Pnh.Api.Tests.EndToEnd;

/// <summary>Whose key opens the console of a real hub.</summary>
public sealed class ConsoleKeyTests
{
    private const string Explain = """{"to":{"user":"x"}}""";
    private static readonly string ShopKey = new('s', 40);
    private static readonly string CafeKey = new('c', 40);

    [Fact]
    public async Task AdminKey_OfTheOnlyApp_OpensTheConsole()
    {
        await using var hub = await TestHub.StartAsync(configuration: [$"--Pnh:Apps:shop:Keys:0:Secret={ShopKey}", "--Pnh:Apps:shop:Keys:0:Scopes=admin"]);

        Assert.Equal(200, (await hub.SendAsync("POST", "/console/explain", Explain, credential: ShopKey, operations: true)).Status);
    }

    [Fact]
    public async Task AdminKey_OfOneAppAmongSeveral_DoesNot()
    {
        await using var hub = await TestHub.StartAsync(configuration:
        [
            $"--Pnh:Apps:shop:Keys:0:Secret={ShopKey}", "--Pnh:Apps:shop:Keys:0:Scopes=admin",
            $"--Pnh:Apps:cafe:Keys:0:Secret={CafeKey}", "--Pnh:Apps:cafe:Keys:0:Scopes=admin",
        ]);

        Assert.Equal(401, (await hub.SendAsync("POST", "/console/explain", Explain, credential: ShopKey, operations: true)).Status);
        Assert.Equal(200, (await hub.SendAsync("POST", "/console/explain", Explain, credential: hub.Host.Start.OperatorSecret, operations: true)).Status);
    }

    [Fact]
    public async Task Console_IsNotOnThePublicListener()
    {
        await using var hub = await TestHub.StartAsync();

        Assert.Equal(404, (await hub.SendAsync("GET", "/console")).Status);
        Assert.Equal(404, (await hub.SendAsync("GET", "/metrics")).Status);
        Assert.Equal(404, (await hub.SendAsync("POST", "/v1/events", "{}", operations: true)).Status);
    }
}
