using System.Net;
using System.Text;
using System.Text.Json;
using Pnh.Api.WebConsole;

namespace Pnh.Api.Tests.ConsolePage;

public sealed class ConsoleStreamTests : ConsoleTestBase
{
    [Fact]
    public async Task Stream_TwoViewers_ShareOneSnapshotASecond_AndNoneWithoutViewers()
    {
        var cookie = await SignInAsync();
        using var one = await OpenStreamAsync(cookie);
        using var two = await OpenStreamAsync(cookie);
        Assert.StartsWith("event: snapshot\ndata: {\"version\":\"0.1.0-test\"", await ReadEventAsync(one), StringComparison.Ordinal);
        await ReadEventAsync(two);
        var before = Host.Hub.Snapshots;
        Time.Advance(TimeSpan.FromSeconds(1));
        var text = await ReadEventAsync(one);
        Assert.Equal(text, await ReadEventAsync(two));
        Assert.Equal(before + 1, Host.Hub.Snapshots);

        one.Dispose();
        two.Dispose();
        var idle = await WaitUntilIdleAsync();
        Time.Advance(TimeSpan.FromSeconds(30));
        Assert.Equal(idle, Host.Hub.Snapshots);
    }

    [Fact]
    public async Task Stream_ManySessionsAndLabels_AreBoundedAndSnakeCase()
    {
        Host.Hub.MadeUpSessions = 5_000;
        Host.Hub.CountTroubles();
        using var stream = await OpenStreamAsync(await SignInAsync());
        var text = await ReadEventAsync(stream);
        using var json = JsonDocument.Parse(text[text.IndexOf('{', StringComparison.Ordinal)..]);
        Assert.Equal(5_000, json.RootElement.GetProperty("sessionCount").GetInt32());
        Assert.Equal(ConsoleSnapshot.MaxSessions, json.RootElement.GetProperty("sessions").GetArrayLength());
        var delivery = json.RootElement.GetProperty("totals").GetProperty("deliveries")[0];
        Assert.Equal("address_dead", delivery.GetProperty("status").GetString());
    }

    [Fact]
    public async Task Stream_SnapshotFails_KeepsTheViewerAndGoesOn()
    {
        using var stream = await OpenStreamAsync(await SignInAsync());
        await ReadEventAsync(stream);
        Host.Hub.Fails = true;
        Time.Advance(TimeSpan.FromSeconds(1));
        Host.Hub.Fails = false;
        Time.Advance(TimeSpan.FromSeconds(1));
        Assert.StartsWith("event: snapshot", await ReadEventAsync(stream), StringComparison.Ordinal);
    }

    [Fact]
    public async Task Stream_TooManyViewers_Is503_AndStopEndsTheOthers()
    {
        var cookie = await SignInAsync();
        var streams = new List<Stream>();
        for (var i = 0; i < SnapshotFeed.MaxViewers; i++)
        {
            streams.Add(await OpenStreamAsync(cookie));
        }

        using var refused = await SendAsync(HttpMethod.Get, "/console/stream", cookie);
        Assert.Equal(HttpStatusCode.ServiceUnavailable, refused.StatusCode);
        await Host.DisposeAsync().AsTask().WaitAsync(TimeSpan.FromSeconds(5));
        streams.ForEach(static stream => stream.Dispose());
    }

    [Fact]
    public async Task Stream_SessionOver_Ends()
    {
        var cookie = await SignInAsync();
        for (var quarter = 1; quarter < 48; quarter++)
        {
            Time.Advance(TimeSpan.FromMinutes(15));
            (await SendAsync(HttpMethod.Post, "/console/token", cookie, Origin, "{}")).Dispose();
        }

        Time.Advance(TimeSpan.FromMinutes(15) - TimeSpan.FromSeconds(1));
        using var stream = await OpenStreamAsync(cookie);
        await ReadEventAsync(stream);
        Time.Advance(TimeSpan.FromSeconds(1));
        await AssertEndsAsync(stream);
    }

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public async Task Stream_KeyRevoked_Ends(bool signedIn)
    {
        using var stream = signedIn ? await OpenStreamAsync(await SignInAsync()) : await OpenStreamAsync(null, ConsoleHost.AdminKey);
        await ReadEventAsync(stream);
        Host.Hub.IsKeyRevoked = true;
        Time.Advance(TimeSpan.FromSeconds(1));
        await AssertEndsAsync(stream);
    }

    private static async Task AssertEndsAsync(Stream stream)
    {
        using var limit = new CancellationTokenSource(TimeSpan.FromSeconds(10));
        Assert.Equal(0, await stream.ReadAsync(new byte[64 * 1024], limit.Token));
    }

    private async Task<Stream> OpenStreamAsync(string? cookie, string? key = null)
    {
        var answer = await SendAsync(HttpMethod.Get, "/console/stream", cookie, key: key);
        Assert.Equal(HttpStatusCode.OK, answer.StatusCode);
        return await answer.Content.ReadAsStreamAsync();
    }

    private static async Task<string> ReadEventAsync(Stream stream)
    {
        using var limit = new CancellationTokenSource(TimeSpan.FromSeconds(10));
        var text = new StringBuilder();
        var buffer = new byte[64 * 1024];
        while (!text.ToString().EndsWith("\n\n", StringComparison.Ordinal))
        {
            var read = await stream.ReadAsync(buffer, limit.Token);
            Assert.True(read > 0, "the stream ended");
            text.Append(Encoding.UTF8.GetString(buffer, 0, read));
        }

        return text.ToString();
    }

    /// <summary>The server notices the end of a connection a moment later: then the clock's steps make no snapshots.</summary>
    private async Task<int> WaitUntilIdleAsync()
    {
        for (var i = 0; i < 100; i++)
        {
            var before = Host.Hub.Snapshots;
            Time.Advance(TimeSpan.FromSeconds(1));
            if (Host.Hub.Snapshots == before)
            {
                return before;
            }

            await Task.Delay(50);
        }

        throw new TimeoutException("The feed still takes snapshots 5 s after the last viewer left.");
    }
}
