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

    [Theory]
    [InlineData("Direct")]
    [InlineData("Framework")]
    public async Task Request_HostileInAKnownWay_IsNo5xxAndNoWarning(string transport)
    {
        using var log = new RecordedLog();
        await using var hub = await StartAsync(transport, log);
        var answered = 0;
        foreach (var request in Hostile(hub.Key, hub.ClientToken("ada")))
        {
            using var client = await RawClient.ConnectAsync(hub.Host.PublicAddress.Port);
            try
            {
                await client.SendAsync(request);
            }
            catch (System.Net.Sockets.SocketException)
            {
                // Closed already.
            }

            // A client that ends at once is gone, and is not answered.
            var reading = client.ReceiveAllAsync();
            await Task.WhenAny(reading, Task.Delay(100));
            client.TryEndSending();
            var answer = await reading;
            answered += answer.Length > 0 ? 1 : 0;
            Assert.False(answer.Contains("HTTP/1.1 5", StringComparison.Ordinal) && !Is505(request, answer), $"{request[..Math.Min(200, request.Length)]} -> {answer}");
        }

        Assert.True(answered > 40, $"Only {answered} were answered.");
        Assert.True(Loud(log) is [], string.Join(" | ", Loud(log)));
        Assert.Equal(200, (await hub.SendAsync("GET", "/healthz")).Status);
    }

    // A version that is none: the server's own answer, before any of our code (README of the front door).
    private static bool Is505(string request, string answer) =>
        request.Contains("HTTP/9.9", StringComparison.Ordinal) && answer.StartsWith("HTTP/1.1 505", StringComparison.Ordinal);

    private static IEnumerable<string> Hostile(string key, string token)
    {
        var post = $"POST /v1/events HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer {key}\r\n";
        var json = post + "Content-Type: application/json\r\n";
        var upgrade = "GET /v1/socket HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n";
        var hello = $$"""{"type":"hello","token":"{{token}}","device":"d","state":"active"}""";
        var deep = new string('[', 5_000);

        // Lines and heads.
        yield return "GET /healthz HTTP/9.9\r\nHost: a\r\n\r\n";
        yield return "GET /healthz\r\n\r\n";
        yield return "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
        yield return "\u0016\u0003\u0001\u0002\0\u0001\0\u0001\u00fc\u0003\u0003";
        yield return "CONNECT evil.example:443 HTTP/1.1\r\nHost: evil.example\r\n\r\n";
        yield return "OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n";
        yield return "GET http://evil.example/v1/users/ada HTTP/1.1\r\nHost: a\r\n\r\n";
        yield return "GET /v1/users/%00%ff%fe HTTP/1.1\r\nHost: a\r\n\r\n";
        yield return "GET /../../etc/passwd HTTP/1.1\r\nHost: a\r\n\r\n";
        yield return $"GET /{new string('a', 20_000)} HTTP/1.1\r\nHost: a\r\n\r\n";
        yield return $"GET /healthz HTTP/1.1\r\nHost: a\r\nX: {new string('a', 40_000)}\r\n\r\n";
        yield return "GET /healthz HTTP/1.1\r\nHost: a\r\n" + string.Concat(Enumerable.Range(0, 200).Select(static i => $"X{i}: 1\r\n")) + "\r\n";
        yield return "GET /healthz HTTP/1.1\r\n\r\n";
        yield return "GET /healthz HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n";
        yield return "GET /healthz HTTP/1.1\nHost: a\n\n";
        yield return "GET /healthz HTTP/1.1\r\nHost: a\r\n folded: 1\r\n\r\n";
        yield return $"GET /v1/users/ada HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer {new string('.', 9_000)}\r\n\r\n";
        yield return "GET /v1/users/ada HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer e30.e30.e30\r\n\r\n";

        // Bodies.
        yield return json + "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n";
        yield return json + "Content-Length: 99999999999999999999\r\n\r\n{";
        yield return json + "Content-Length: -1\r\n\r\n{";
        yield return json + "Content-Length: 999999999\r\n\r\n{";
        yield return json + "Transfer-Encoding: gzip\r\n\r\n{";
        yield return json + "Transfer-Encoding: chunked\r\n\r\n1;" + new string('e', 20_000) + "\r\n{\r\n0\r\n\r\n";
        yield return json + $"Content-Length: {deep.Length}\r\n\r\n{deep}";
        yield return json + "Expect: 200-ok\r\nContent-Length: 2\r\n\r\n{}";
        yield return json + "Content-Encoding: br\r\nContent-Length: 2\r\n\r\n{}";
        yield return post + "Content-Type: application/json; charset=utf-7\r\nContent-Length: 2\r\n\r\n{}";
        yield return post + "Content-Type: application/x-ndjson\r\nTransfer-Encoding: chunked\r\n\r\n3\r\n{\"a\r\n";
        yield return post + $"Content-Type: application/x-ndjson\r\nContent-Length: {deep.Length}\r\n\r\n{deep}";
        yield return "PUT /v1/users/ada/devices/d HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer " + token + "\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n{\"\\ud800\"";

        // Upgrades, and frames behind them.
        yield return upgrade.Replace("13", "99", StringComparison.Ordinal) + "\r\n";
        yield return upgrade.Replace("AAAAAAAAAAAAAAAAAAAAAA==", "x", StringComparison.Ordinal) + "\r\n";
        yield return upgrade + "Content-Length: 5\r\n\r\nhello";
        foreach (var frame in new[] { "\u0081\u0005hello", "\u00ff\u00ff\u00ff\u00ff", "\u0081\u00ff\u007f\u00ff\u00ff\u00ff\u00ff\u00ff\u00ff\u00ff", "\u0089\u00fe\u0001\u0000", Masked("\u00ff\u00fe"), Masked("{"), Masked(deep[..100]), Masked("""{"type":"hello"}""") })
        {
            yield return upgrade + "\r\n" + frame;
            yield return upgrade + "\r\n" + Masked(hello) + frame;
        }

        foreach (var said in new[] { """{"type":"ack","seq":-1}""", """{"type":"ack","seq":99999999999999999999}""", """{"type":"join","topics":["\ud800"]}""", """{"type":"answer","id":"none","as":"x"}""", """{"type":"send","to":{"user":"bob"}}""", hello })
        {
            yield return upgrade + "\r\n" + Masked(hello) + Masked(said);
        }
    }

    // A text frame of a client, with a mask of zeros.
    private static string Masked(string text) => (text.Length < 126
        ? $"\u0081{(char)(0x80 | text.Length)}"
        : $"\u0081\u00fe{(char)(text.Length >> 8)}{(char)(text.Length & 0xff)}") + "\0\0\0\0" + text;

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
