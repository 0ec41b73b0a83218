using System.Net;
using System.Net.Sockets;
using System.Text;

namespace Pnh.Api.Tests.FrontDoor;

/// <summary>One answer as it came over the wire.</summary>
internal sealed record WireAnswer(int Status, string Head, string Body)
{
    public string? Header(string name) => Head.Split("\r\n").Skip(1)
        .Where(line => line.StartsWith($"{name}:", StringComparison.OrdinalIgnoreCase)).Select(line => line[(name.Length + 1)..].Trim()).SingleOrDefault();
}

/// <summary>HTTP/1.1 by hand: no client library tidies up what is sent.</summary>
internal static class Wire
{
    public static Task<WireAnswer> GetAsync(int port, string target, params string[] headers) => SendAsync(port, "GET", target, headers);

    public static async Task<WireAnswer> SendAsync(int port, string method, string target, string[]? headers = null, string? body = null)
    {
        var request = new StringBuilder($"{method} {target} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n");
        foreach (var header in headers ?? [])
        {
            request.Append($"{header}\r\n");
        }

        if (body is not null)
        {
            request.Append($"Content-Length: {Encoding.UTF8.GetByteCount(body)}\r\n");
        }

        return await SendRawAsync(port, $"{request}\r\n{body}");
    }

    public static async Task<WireAnswer> SendRawAsync(int port, string request)
    {
        using var timeout = new CancellationTokenSource(TimeSpan.FromSeconds(20));
        using var client = new TcpClient();
        await client.ConnectAsync(IPAddress.Loopback, port, timeout.Token);
        var stream = client.GetStream();
        await stream.WriteAsync(Encoding.UTF8.GetBytes(request), timeout.Token);
        using var answer = new MemoryStream();
        await stream.CopyToAsync(answer, timeout.Token);
        var text = Encoding.UTF8.GetString(answer.ToArray());
        var end = text.IndexOf("\r\n\r\n", StringComparison.Ordinal);
        return new(int.Parse(text.AsSpan(9, 3)), text[..end], text[(end + 4)..]);
    }
}
