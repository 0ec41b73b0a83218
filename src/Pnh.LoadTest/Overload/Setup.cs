using System.Globalization;
using System.Net.Sockets;
using System.Text;

namespace Pnh.LoadTest.Overload;

/// <summary>What must be there before load: registered web devices.</summary>
internal static class Setup
{
    /// <summary>Imports the devices of every user; throws when the hub did not take them all.</summary>
    public static async Task RegisterAsync(LoadOptions options)
    {
        var lines = new StringBuilder();
        for (var i = 0; i < options.Users * options.Devices; i++)
        {
            var (user, device) = (EventRequest.UserName(i / options.Devices), DeviceName(i % options.Devices));
            lines.Append(CultureInfo.InvariantCulture, $$"""{"user":"{{user}}","device":"{{device}}","platform":"web"}""").Append('\n');
        }

        var body = lines.ToString();
        using var socket = new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp);
        await socket.ConnectAsync(options.Host, options.Port);
        await socket.SendAsync(Encoding.ASCII.GetBytes(string.Create(
            CultureInfo.InvariantCulture,
            $"POST /v1/devices:import HTTP/1.1\r\nHost: {options.Host}\r\nAuthorization: Bearer {options.Key}\r\nContent-Type: application/x-ndjson\r\nConnection: close\r\nContent-Length: {body.Length}\r\n\r\n{body}")));
        var answer = new StringBuilder();
        var buffer = new byte[4096];
        for (int read; (read = await socket.ReceiveAsync(buffer)) > 0;)
        {
            answer.Append(Encoding.UTF8.GetString(buffer.AsSpan(0, read)));
        }

        if (!answer.ToString().Contains(string.Create(CultureInfo.InvariantCulture, $"\"imported\":{options.Users * options.Devices}"), StringComparison.Ordinal))
        {
            throw new InvalidOperationException($"the devices were not imported: {answer}");
        }
    }

    /// <summary>The same names for every user.</summary>
    public static string DeviceName(int device) => string.Create(CultureInfo.InvariantCulture, $"tab-{device}");
}
