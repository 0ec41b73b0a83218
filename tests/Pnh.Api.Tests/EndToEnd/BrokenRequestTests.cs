using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Logging;
using Pnh.Api.Tests.Ingest;

namespace Pnh.Api.Tests.EndToEnd;

/// <summary>Requests that break HTTP: each is the client's fault, so none is a 5xx and none is a line at Warning or above.</summary>
public sealed class BrokenRequestTests
{
    [Theory]
    [InlineData("Direct")]
    [InlineData("Framework")]
    public async Task Chunk_SizeThatCannotBeOne_Is400AndNoWarning(string transport)
    {
        using var log = new RecordedLog();
        await using var hub = await StartAsync(transport, log);
        foreach (var size in new[] { "80000000", "FFFFFFFF", "7FFFFFFFF", "100000000", "xyz", "-1", "" })
        {
            foreach (var (request, type) in new[] { ("POST /v1/events", "application/json"), ("POST /v1/events", "application/x-ndjson"), ("PUT /v1/users/ada/devices/d", "application/json") })
            {
                using var client = await RawClient.ConnectAsync(hub.Host.PublicAddress.Port);
                await client.SendAsync($"{request} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer {hub.Key}\r\nContent-Type: {type}\r\nTransfer-Encoding: chunked\r\n\r\n{size}\r\n{{");
                client.EndSending();
                var answer = await client.ReceiveAllAsync();
                Assert.True(answer.Length == 0 || answer.StartsWith("HTTP/1.1 4", StringComparison.Ordinal) || answer.StartsWith("HTTP/1.1 207", StringComparison.Ordinal), $"{request} {type} {size}: {answer}");
            }
        }

        Assert.True(Loud(log) is [], string.Join(" | ", Loud(log)));
    }

    [Theory]
    [InlineData("Direct")]
    [InlineData("Framework")]
    public async Task Request_BrokenInAnyWay_IsNo5xxAndNoWarning(string transport)
    {
        using var log = new RecordedLog();
        await using var hub = await StartAsync(transport, log);
        var random = new Random(20261123);
        for (var i = 0; i < 300; i++)
        {
            var request = Broken(random, hub.Key);
            using var client = await RawClient.ConnectAsync(hub.Host.PublicAddress.Port);
            try
            {
                await client.SendAsync(request);
                client.EndSending();
            }
            catch (System.Net.Sockets.SocketException)
            {
                // Closed already.
            }

            var answer = await client.ReceiveAllAsync();
            // 505 is the server's word for a version that is none, and the client's fault (RFC 9110 section 15.6.6).
            Assert.False(answer.Replace("HTTP/1.1 505", "", StringComparison.Ordinal).Contains("HTTP/1.1 5", StringComparison.Ordinal), $"{request} -> {answer}");
        }

        Assert.True(Loud(log) is [], string.Join(" | ", Loud(log)));
    }

    private static Task<TestHub> StartAsync(string transport, RecordedLog log) => TestHub.StartAsync(
        null, null, null, [$"--Pnh:Sockets:Transport={transport}"],
        services => services.AddLogging(logging => logging.AddProvider(log)));

    // As the hub's own settings let them through.
    private static string[] Loud(RecordedLog log) =>
        [.. log.Lines.Where(static line => line.Level >= LogLevel.Warning).Select(static line => $"{line.Category}: {line.Level}: {line.Exception}").Distinct()];

    // A sound request with a few bytes changed, doubled, left out or put in.
    private static string Broken(Random random, string key)
    {
        string[] sound =
        [
            $"POST /v1/events HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer {key}\r\nContent-Type: application/json\r\nContent-Length: 47\r\n\r\n{{\"to\":{{\"user\":\"ada\"}},\"class\":\"bulk\",\"data\":1}}",
            $"POST /v1/events HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer {key}\r\nContent-Type: application/x-ndjson\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n{{\"a\":\r\n2\r\n1}}\r\n0\r\n\r\n",
            $"PUT /v1/users/ada/devices/d HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer {key}\r\nContent-Type: application/json\r\nContent-Length: 18\r\n\r\n{{\"platform\":\"web\"}}",
            "GET /v1/socket HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n",
        ];
        var text = sound[random.Next(sound.Length)];
        for (var changes = random.Next(1, 4); changes > 0; changes--)
        {
            var at = random.Next(text.Length);
            var length = Math.Min(random.Next(1, 12), text.Length - at);
            text = random.Next(4) switch
            {
                0 => text.Remove(at, length),
                1 => text.Insert(at, text.Substring(at, length)),
                2 => text.Insert(at, ((char)random.Next(256)).ToString()),
                _ => string.Concat(text.AsSpan(0, at), ((char)random.Next(256)).ToString(), text.AsSpan(at + 1)),
            };
        }

        return text;
    }
}
