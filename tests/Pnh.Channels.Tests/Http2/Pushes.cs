using System.Text;
using Pnh.Channels.Http2;

namespace Pnh.Channels.Tests.Http2;

/// <summary>Requests like those to APNs.</summary>
internal static class Pushes
{
    private static readonly Http2Header[] Headers =
    [
        new("authorization", "bearer " + new string('t', 200)),
        new("apns-topic", "com.example.app"),
        new("apns-push-type", "alert"),
        new("apns-priority", "10"),
        new("apns-id", "4f4e1d3e-6c8e-4d6c-9a3c-1d2e3f405162", HeaderIndexing.Literal),
        new("apns-expiration", "1893456000", HeaderIndexing.Literal),
    ];

    private static readonly byte[] Body = Encoding.ASCII.GetBytes("""{"aps":{"alert":{"body":"Hello"}}}""");

    public static Http2Request Push(string address = "ab12", byte[]? body = null) => new()
    {
        Path = "/3/device/",
        PathEnd = address,
        Headers = Headers,
        Body = Http2Body.Whole(body ?? Body),
    };

    /// <summary>Sends and waits, never for ever.</summary>
    public static async Task<Http2Outcome> OutcomeAsync(this Http2Connection connection, string address = "ab12", byte[]? body = null)
    {
        using var answer = await connection.SendAsync(Push(address, body), CancellationToken.None).AsTask().WaitAsync(Http2Peer.Patience);
        return answer.Outcome;
    }

    public static string Text(this in Http2Answer answer, AnswerHeader header) => Encoding.ASCII.GetString(answer.Header(header));

    public static string Text(this in Http2Answer answer) => Encoding.UTF8.GetString(answer.Body);
}
