using Microsoft.Extensions.DependencyInjection;
using Pnh.Api.Engines;
using Pnh.Api.Tests.EndToEnd;
using Pnh.Core.Hubs;
using Pnh.Storage.Files;

namespace Pnh.Api.Tests.Engines;

/// <summary>A hub knows its engine by <see cref="IStorageEngine"/> alone.</summary>
public class StorageEngineTests
{
    [Fact]
    public async Task Start_OnAnotherEngine_DoesTheMainJobAndKeepsNothingInTheFolder()
    {
        GivenEngine engine = new();
        await using (var hub = await StartAsync(engine))
        {
            await hub.SendAsync("PUT", "/v1/users/eve/devices/tab", """{"platform":"web"}""");
            using var socket = await hub.ConnectAsync("eve", "tab");
            Assert.Equal(202, (await hub.SendAsync("POST", "/v1/events", """{"id":"e-1","to":{"user":"eve"},"data":{"n":7}}""")).Status);
            var frame = await socket.ReceiveAsync();
            Assert.Equal("e-1", frame.GetProperty("id").GetString());
            await socket.SendAsync($$"""{"type":"ack","seq":{{frame.GetProperty("seq").GetInt64()}}}""");
            await TestHub.EventuallyAsync(() => hub.Host.Services.GetRequiredService<Hub>().Shards.InFlight, static inFlight => inFlight == 0);
            Assert.Contains("\"acked\"", (await hub.SendAsync("GET", "/v1/events/e-1")).Body, StringComparison.Ordinal);

            Assert.False(Directory.Exists(Path.Combine(hub.Folder, "journal")));
            Assert.False(File.Exists(Path.Combine(hub.Folder, "registry.db")));
        }

        Assert.Equal(["check", "export", "dispose"], engine.Calls.Distinct());
    }

    [Fact]
    public async Task Readyz_EngineRefuses_SaysItsReason()
    {
        GivenEngine engine = new();
        await using var hub = await StartAsync(engine);
        engine.Refusal = "The store of the tests is away";
        var answer = await hub.SendAsync("GET", "/readyz");
        Assert.Equal((503, "not ready: The store of the tests is away"), (answer.Status, answer.Body.TrimEnd()));
    }

    [Fact]
    public async Task Start_CheckFails_SaysWhy()
    {
        var fault = await Assert.ThrowsAsync<DataFolderException>(() => StartAsync(new GivenEngine { CheckFault = "This is the truth of others." }));
        Assert.Equal("This is the truth of others.", fault.Message);
    }

    private static Task<TestHub> StartAsync(IStorageEngine engine) =>
        TestHub.StartAsync(null, null, null, [], services => services.AddSingleton(_ => engine));
}
