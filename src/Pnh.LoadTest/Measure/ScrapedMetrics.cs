using System.Globalization;
using System.Net.Sockets;
using System.Text;

namespace Pnh.LoadTest.Measure;

/// <summary>PNH's metrics page, read while nothing is measured.</summary>
internal sealed class ScrapedMetrics
{
    private readonly string[] _lines;

    private ScrapedMetrics(string[] lines)
    {
        _lines = lines;
    }

    /// <summary>Null when there is no operations port.</summary>
    public static ScrapedMetrics? Read(string host, int port)
    {
        if (port == 0)
        {
            return null;
        }

        using var socket = new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp);
        socket.Connect(host, port);

        // 1.0, because its answers come in one piece: in 1.1 the sizes of chunks stand in the middle of lines.
        socket.Send(Encoding.ASCII.GetBytes($"GET /metrics HTTP/1.0\r\nHost: {host}:{port.ToString(CultureInfo.InvariantCulture)}\r\n\r\n"));
        var text = new StringBuilder();
        var buffer = new byte[64 * 1024];
        for (int read; (read = socket.Receive(buffer)) > 0;)
        {
            text.Append(Encoding.UTF8.GetString(buffer, 0, read));
        }

        return new ScrapedMetrics(text.ToString().Split('\n'));
    }

    /// <summary>All series of a name together.</summary>
    public double Sum(string name) => _lines
        .Where(line => line.StartsWith(name + "{", StringComparison.Ordinal) || line.StartsWith(name + " ", StringComparison.Ordinal))
        .Sum(static line => double.Parse(line[(line.LastIndexOf(' ') + 1)..], CultureInfo.InvariantCulture));
}
