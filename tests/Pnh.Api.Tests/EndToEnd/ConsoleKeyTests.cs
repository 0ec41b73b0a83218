using Pnh.Api.Tests.FrontDoor;

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
    public async Task Session_HubStartsAgain_IsStillSignedIn()
    {
        var data = Directory.CreateTempSubdirectory("pnh-").FullName;
        try
        {
            string cookie;
            await using (var hub = await TestHub.StartAsync(data))
            {
                var opened = await Wire.GetAsync(hub.Host.OperationsAddress.Port, hub.Host.CreateConsoleLink().PathAndQuery);
                cookie = opened.Header("Set-Cookie")!.Split(';')[0];
                Assert.Equal(404, await AskAsync(hub, cookie));
            }

            await using var next = await TestHub.StartAsync(data);
            Assert.Equal((404, 401), (await AskAsync(next, cookie), await AskAsync(next, cookie + "x")));
        }
        finally
        {
            Directory.Delete(data, recursive: true);
        }

        // An event that there is not: 401 without a session.
        static async Task<int> AskAsync(TestHub hub, string cookie) =>
            (await Wire.GetAsync(hub.Host.OperationsAddress.Port, "/console/events/none", $"Cookie: {cookie}")).Status;
    }

    [Fact]
    public async Task Console_UnderANameOfTheConfiguration_IsServed()
    {
        await using var hub = await TestHub.StartAsync(
            configuration: ["--Pnh:Console:HostNames:0=hub.internal", "--Pnh:Console:HostNames:1=10.0.0.7", "--Pnh:Console:HostNames:2=[fd00::7]"]);
        foreach (var (host, status) in new[] { ("HUB.internal", 401), ("hub.internal:9090", 401), ("10.0.0.7", 401), ("[fd00::7]:9090", 401), ("evil.example", 403) })
        {
            var answer = await Wire.SendRawAsync(hub.Host.OperationsAddress.Port, $"GET /console HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n");
            Assert.Equal((host, status), (host, answer.Status));
        }
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
