using System.Net.Sockets;
using System.Text;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Logging.Abstractions;
using Pnh.Core.Intake;

namespace Pnh.Api.Tests.EndToEnd;

/// <summary>Who sends on though it was refused waits on the direct transport; what it sent is answered all the same, in order.</summary>
public sealed class HeldTests
{
    [Fact]
    public async Task Refused_SendsOn_EachAnswerComesLaterAndOneThatIsTakenEndsIt()
    {
        await using var hub = await FullAsync();
        using var client = new TcpClient { NoDelay = true };
        await client.ConnectAsync(hub.Host.PublicAddress.Host, hub.Host.PublicAddress.Port);
        var stream = client.GetStream();
        var from = TimeProvider.System.GetTimestamp();
        await SendAsync(stream, hub, [.. Enumerable.Repeat("message", 6), "transient"]);
        Assert.Equal("503 503 503 503 503 503 202", await ReadAsync(stream, 7));

        // 10, 20, 40, 100 and 100 ms; a timer of the system is early by no more than its own tick.
        Assert.True(TimeProvider.System.GetElapsedTime(from) > TimeSpan.FromMilliseconds(250), $"all after {TimeProvider.System.GetElapsedTime(from)}");
        await SendAsync(stream, hub, ["message", "transient", "message", "transient"]);
        Assert.Equal("503 202 503 202", await ReadAsync(stream, 4));
    }

    [Fact]
    public async Task Refused_GoesWhileItIsHeld_OthersAreServed()
    {
        await using var hub = await FullAsync();
        for (var i = 0; i < 20; i++)
        {
            using var client = new TcpClient { NoDelay = true, LingerState = new LingerOption(i % 2 == 0, 0) };
            await client.ConnectAsync(hub.Host.PublicAddress.Host, hub.Host.PublicAddress.Port);
            await SendAsync(client.GetStream(), hub, [.. Enumerable.Repeat("message", 5)]);

            // A busy machine reads late, and more by then.
            Assert.StartsWith("503 503", await ReadAsync(client.GetStream(), 2), StringComparison.Ordinal);
        }

        await Task.Delay(150);
        Assert.Equal(202, (await hub.SendAsync("POST", "/v1/events", """{"to":{"user":"ada"},"class":"transient"}""")).Status);
    }

    private static async Task<TestHub> FullAsync()
    {
        var guard = new MemoryGuard(TimeProvider.System, NullLogger<MemoryGuard>.Instance, new FullHeap());
        var hub = await TestHub.StartAsync(null, null, time: null, ["--Pnh:Sockets:Transport=Direct"], services => services.AddSingleton(guard));
        await TestHub.EventuallyAsync(() => guard.IsFull, static isFull => isFull);
        return hub;
    }

    private static async Task SendAsync(NetworkStream stream, TestHub hub, string[] classes)
    {
        var text = new StringBuilder();
        foreach (var @class in classes)
        {
            var body = $$"""{"to":{"user":"ada"},"class":"{{@class}}"}""";
            text.Append($"POST /v1/events HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer {hub.Key}\r\nContent-Type: application/json\r\nContent-Length: {body.Length}\r\n\r\n{body}");
        }

        await stream.WriteAsync(Encoding.ASCII.GetBytes(text.ToString()));
    }

    private static async Task<string> ReadAsync(NetworkStream stream, int count)
    {
        using var patience = new CancellationTokenSource(TimeSpan.FromSeconds(20));
        var statuses = new List<int>();
        var text = "";
        var buffer = new byte[16 * 1024];
        while (statuses.Count < count)
        {
            var read = await stream.ReadAsync(buffer, patience.Token);
            Assert.True(read > 0, $"closed after {statuses.Count} answers");
            text += Encoding.ASCII.GetString(buffer.AsSpan(0, read));
            for (int end; (end = text.IndexOf("\r\n\r\n", StringComparison.Ordinal)) >= 0;)
            {
                var head = text[..end];
                var length = int.Parse(head.Split("Content-Length: ")[1].Split('\r')[0], System.Globalization.CultureInfo.InvariantCulture);
                if (text.Length < end + 4 + length)
                {
                    break;
                }

                statuses.Add(int.Parse(head.AsSpan(9, 3), System.Globalization.CultureInfo.InvariantCulture));
                text = text[(end + 4 + length)..];
            }
        }

        return string.Join(' ', statuses);
    }

    private sealed class FullHeap : IHeap
    {
        public int Collections => 1;

        public HeapReading Read() => new(700, 1_000, 0);

        public void CollectBehind()
        {
        }
    }
}
