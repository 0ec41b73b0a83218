using System.Globalization;
using System.Net.Sockets;

namespace Pnh.TestKit;

/// <summary>For a foreign program that takes no port 0. The port lies outside the range from which the kernel gives ports to connections, so no connection takes it before the program does.</summary>
public static class FreePort
{
    private static int _given;

    /// <summary>A port on which nothing listens; another one at each call. Safe from several threads.</summary>
    public static int Take()
    {
        var range = File.ReadAllText("/proc/sys/net/ipv4/ip_local_port_range").Split((char[]?)null, StringSplitOptions.RemoveEmptyEntries);
        var (low, high) = (int.Parse(range[0], CultureInfo.InvariantCulture), int.Parse(range[1], CultureInfo.InvariantCulture));
        var (first, count) = low > 14_000 ? (12_000, low - 12_000) : (high + 1, 65_535 - high);
        for (var tries = 0; tries < count; tries++)
        {
            var port = first + (int)(((Environment.ProcessId * 61L) + Interlocked.Increment(ref _given)) % count);
            try
            {
                using var listener = TcpListener.Create(port);
                listener.Start();
                return port;
            }
            catch (SocketException)
            {
                // Another program has it.
            }
        }

        throw new InvalidOperationException("Every port outside the range of connections is taken.");
    }
}
