using Microsoft.Extensions.DependencyInjection;
using Pnh.Api.Configuration;
using Pnh.Api.Tests.EndToEnd;

namespace Pnh.Api.Tests.Pigeon;

/// <summary>Adding a channel is adding a folder: registration, address JSON, configuration, plan, lane, metrics and events' <c>channels</c> come by its name.</summary>
public sealed class PigeonTests
{
    private const string Secret = "0123456789abcdef0123456789abcdef";

    private static readonly string[] App =
        [$"--Pnh:Apps:loft:Keys:0:Secret={Secret}", "--Pnh:Apps:loft:Keys:0:Scopes=send register read", "--Pnh:Apps:loft:Pigeon:Loft=north"];

    [Fact]
    public async Task Event_ForDeviceOfTheNewChannel_LeavesOnIt()
    {
        await using var hub = await TestHub.StartAsync(channels: [typeof(PigeonModule).Assembly], configuration: App);

        var put = await hub.SendAsync("PUT", "/v1/users/pat/devices/coop", """{"platform":"desktop","pigeon":{"ring":"NL-7"}}""", credential: Secret);
        var plan = await hub.SendAsync("POST", "/v1/events:explain", """{"to":{"user":"pat"},"channels":["pigeon"]}""", credential: Secret);
        var sent = await hub.SendAsync("POST", "/v1/events", """{"id":"letter","to":{"user":"pat"},"channels":["pigeon"]}""", credential: Secret);

        Assert.Equal((201, 202), (put.Status, sent.Status));
        Assert.Equal("NL-7", put.Json.GetProperty("pigeon").GetProperty("ring").GetString());
        Assert.Equal("pigeon", plan.Json.GetProperty("users")[0].GetProperty("devices")[0].GetProperty("steps")[0].GetProperty("channel").GetString());
        var channel = hub.Host.Services.GetRequiredService<PigeonChannel>();
        await TestHub.EventuallyAsync(() => channel.Flown.ToArray(), static flown => flown is [("NL-7", "letter")]);
        await TestHub.EventuallyAsync(
            () => hub.SendAsync("GET", "/metrics", operations: true, credential: "").AsTaskResult().Body,
            static page => page.Contains("pnh_deliveries_total{channel=\"pigeon\",class=\"message\",status=\"accepted\"} 1", StringComparison.Ordinal));
    }

    [Fact]
    public async Task Device_WithWrongSection_IsRefusedByTheChannel()
    {
        await using var hub = await TestHub.StartAsync(channels: [typeof(PigeonModule).Assembly], configuration: App);

        var put = await hub.SendAsync("PUT", "/v1/users/pat/devices/coop", """{"platform":"desktop","pigeon":{}}""", credential: Secret);

        Assert.Equal(["/pigeon/ring"], put.Pointers);
    }

    [Fact]
    public async Task Configuration_OfAChannelThatIsNotThere_IsAnError()
    {
        var folder = Directory.CreateTempSubdirectory("pnh-").FullName;
        var errors = new ConfigurationErrors();

        Assert.Null(await Hosting.HubHost.BuildAsync([.. TestHub.Tokens(folder), .. App], errors, TestHub.Quiet, default));

        Assert.Contains(errors.All, static error => error.Path.StartsWith("Pnh:Apps:loft:Pigeon", StringComparison.Ordinal));
        Directory.Delete(folder, recursive: true);
    }
}
