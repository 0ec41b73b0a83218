using Microsoft.Extensions.DependencyInjection;
using Pnh.Api.WebConsole;
using Pnh.Channels.WebSockets.Server;

namespace Pnh.Api.Tests.EndToEnd;

public sealed class NewestSessionsTests
{
    [Fact]
    public async Task Newest_MoreSessionsThanAsked_AreTheLastOnesNewestFirst()
    {
        await using var hub = await TestHub.StartAsync();
        var sockets = new List<TestSocket>();
        for (var i = 0; i < 12; i++)
        {
            sockets.Add(await hub.ConnectAsync("ada", $"tab-{i}"));
        }

        var newest = hub.Host.Services.GetRequiredService<WebSocketServer>().Newest(3);
        Assert.Equal(["tab-11", "tab-10", "tab-9"], newest.Select(static session => session.Key.Device));
        var shown = hub.Host.Services.GetRequiredService<IConsoleSource>().Snapshot();
        Assert.Equal((12, 12, "tab-11"), (shown.SessionCount, shown.Sessions.Count, shown.Sessions[0].Device));
        sockets.ForEach(static socket => socket.Dispose());
    }
}
