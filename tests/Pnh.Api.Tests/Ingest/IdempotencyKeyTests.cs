using System.Net;
using System.Net.Sockets;
using System.Text;
using Pnh.Api.Tests.EndToEnd;

namespace Pnh.Api.Tests.Ingest;

/// <summary>The header <c>Idempotency-Key</c>, and lengths with a sign, over the bytes of both transports.</summary>
public sealed class IdempotencyKeyTests
{
    private const string Event = """{"to":{"user":"ada"},"data":1}""";

    [Theory]
    [InlineData("Direct", "order-81")]
    [InlineData("Direct", "\"order-81\"")]
    [InlineData("Framework", "order-81")]
    public async Task Post_Key_IsTheEventsId(string transport, string key)
    {
        await using var hub = await TestHub.StartAsync(configuration: [$"--Pnh:Sockets:Transport={transport}"]);
        for (var again = 0; again < 2; again++)
        {
            var answer = await PostAsync(hub, Event, $"Idempotency-Key: {key}\r\n");
            Assert.StartsWith("HTTP/1.1 202", answer, StringComparison.Ordinal);
            Assert.Contains("\"id\":\"order-81\"", answer, StringComparison.Ordinal);
            Assert.Equal(again == 1, answer.Contains("\"duplicate\":true", StringComparison.Ordinal));
        }

        Assert.StartsWith("HTTP/1.1 409", await PostAsync(hub, Event.Replace("1}", "2}", StringComparison.Ordinal), $"Idempotency-Key: {key}\r\n"), StringComparison.Ordinal);
        Assert.StartsWith("HTTP/1.1 202", await PostAsync(hub, Event, ""), StringComparison.Ordinal);
    }

    [Theory]
    [InlineData("""{"id":"a","to":{"user":"ada"}}""", "a", 202)]
    [InlineData("""{"id":"b","to":{"user":"ada"}}""", "a", 400)]
    [InlineData(Event, "no id", 400)]
    [InlineData(Event, "", 400)]
    [InlineData(Event, "a\r\nIdempotency-Key: b", 400)]
    [InlineData("""[{"to":{"user":"ada"}}]""", "a", 400)]
    public async Task Post_KeyBesideAnotherIdOrNone_IsRefused(string body, string key, int status)
    {
        await using var hub = await TestHub.StartAsync();
        Assert.StartsWith($"HTTP/1.1 {status}", await PostAsync(hub, body, $"Idempotency-Key: {key}\r\n"), StringComparison.Ordinal);
    }

    [Theory]
    [InlineData("+", 400)]
    [InlineData("-", 400)]
    [InlineData("0x", 400)]
    [InlineData("00", 202)]
    [InlineData("", 202)]
    public async Task Post_LengthWithASign_IsRefused(string before, int status)
    {
        await using var hub = await TestHub.StartAsync();
        Assert.StartsWith($"HTTP/1.1 {status}", await PostAsync(hub, Event, "X-Other: 1\r\n", before), StringComparison.Ordinal);
    }

    private static async Task<string> PostAsync(TestHub hub, string body, string headers, string beforeLength = "")
    {
        using var client = new TcpClient();
        await client.ConnectAsync(IPAddress.Loopback, hub.Host.PublicAddress.Port);
        var stream = client.GetStream();
        var head = $"POST /v1/events HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {hub.Key}\r\nContent-Type: application/json\r\nConnection: close\r\n{headers}"
            + $"Content-Length: {beforeLength}{Encoding.UTF8.GetByteCount(body)}\r\n\r\n";
        await stream.WriteAsync(Encoding.UTF8.GetBytes(head + body));
        using var reader = new StreamReader(stream);
        return await reader.ReadToEndAsync().WaitAsync(TimeSpan.FromSeconds(20));
    }
}
