using System.Net.Sockets;
using System.Text;
using Pnh.LoadTest.Options;

namespace Pnh.LoadTest.Profiles;

/// <summary>Devices that must be registered before a profile begins.</summary>
internal static class DeviceImport
{
    /// <summary>A JSON object per device; throws when the hub did not take them all.</summary>
    public static void Run(BenchOptions options, IEnumerable<string> devices)
    {
        var lines = devices.ToList();
        var body = string.Join('\n', lines) + "\n";
        using var socket = new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp);
        socket.Connect(options.Host, options.Port);
        socket.Send(Encoding.ASCII.GetBytes(FormattableString.Invariant(
            $"POST /v1/devices:import HTTP/1.1\r\nHost: {options.Host}\r\nAuthorization: Bearer {options.Key}\r\nContent-Type: application/x-ndjson\r\nConnection: close\r\nContent-Length: {body.Length}\r\n\r\n{body}")));
        var answer = new StringBuilder();
        var buffer = new byte[16 * 1024];
        for (int read; (read = socket.Receive(buffer)) > 0;)
        {
            answer.Append(Encoding.UTF8.GetString(buffer.AsSpan(0, read)));
        }

        if (!answer.ToString().Contains(FormattableString.Invariant($"\"imported\":{lines.Count}"), StringComparison.Ordinal))
        {
            throw new InvalidOperationException($"the devices were not imported: {answer}");
        }
    }
}
