using System.Text;
using Pnh.Channels.Net.Http;
using Pnh.Channels.Net.Http2;

namespace Pnh.Channels.Tests.Http2;

/// <summary>Requests like those to APNs.</summary>
internal static class Pushes
{
    public const string Id = "4f4e1d3e-6c8e-4d6c-9a3c-1d2e3f405162";

    public static readonly string Authorization = "bearer " + new string('t', 200);

    private static readonly SplicedBody Body = SplicedBody.Whole(Encoding.ASCII.GetBytes("""{"aps":{"alert":{"body":"Hello"}}}"""));

    /// <summary>The header lines that a server sees of <see cref="Push"/>.</summary>
    public static string[] Lines(string address, int bodyLength) =>
    [
        ":method: POST", ":scheme: http", ":authority: localhost", $":path: /3/device/{address}", $"authorization: {Authorization}",
        "apns-topic: com.example.app", "apns-push-type: alert", "apns-priority: 10", $"apns-id: {Id}", "apns-expiration: 1893456000",
        $"content-length: {bodyLength}",
    ];

    public static ProviderRequest Push(string address = "ab12", byte[]? body = null, WantedHeaders wanted = WantedHeaders.None)
    {
        var headers = default(HeaderList);
        headers.Add(HeaderName.Authorization, Authorization);
        headers.Add(HeaderName.ApnsTopic, "com.example.app");
        headers.Add(HeaderName.ApnsPushType, "alert");
        headers.Add(HeaderName.ApnsPriority, "10");
        headers.Add(HeaderName.ApnsId, Id);
        headers.Add(HeaderName.ApnsExpiration, "1893456000");
        return new ProviderRequest
        {
            PathPrefix = "/3/device/",
            PathEnd = address,
            Headers = headers,
            Body = body is null ? Body : SplicedBody.Whole(body),
            FirstGap = "",
            SecondGap = "",
            Wanted = wanted,
        };
    }

    /// <summary>Sends and waits, never for ever: status, fault and reason in one text.</summary>
    public static async Task<string> SendAsync(this Http2Connection connection, string address = "ab12", byte[]? body = null, CancellationToken cancellationToken = default)
    {
        try
        {
            using var answer = await connection.SendAsync(Push(address, body), cancellationToken).AsTask().WaitAsync(Http2Peer.Patience, CancellationToken.None);
            return answer.Fault == SendFault.None ? $"{answer.Status} {answer.Text()}".TrimEnd() : $"{answer.Fault} {answer.FaultReason}";
        }
        catch (OperationCanceledException) when (cancellationToken.IsCancellationRequested)
        {
            return "canceled";
        }
    }

    public static string Text(this in ProviderAnswer answer) => Encoding.UTF8.GetString(answer.Body.Span);
}
