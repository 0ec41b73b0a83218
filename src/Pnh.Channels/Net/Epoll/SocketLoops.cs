using System.Net;
using System.Net.Sockets;
using Microsoft.Extensions.Logging;
using Pnh.Core.Diagnostics;

namespace Pnh.Channels.Net.Epoll;

/// <summary>
/// The loops of a process and the ports that they listen on. Connections are dealt to the loops in turn. Linux only; thread-safe.
/// </summary>
internal sealed class SocketLoops : IDisposable
{
    /// <summary>Connections that the kernel holds while none is accepted; a storm of clients should find room. The system may allow fewer.</summary>
    private const int Backlog = 4_096;

    private readonly SocketLoop[] _loops;
    private readonly TimeProvider _clock;
    private readonly ILogger _log;
    private uint _next;

    public SocketLoops(int count, TimeProvider clock, ILogger log)
    {
        _clock = clock;
        _log = log = new PacedLog(log, clock);
        _loops = new SocketLoop[count];
        for (var i = 0; i < count; i++)
        {
            _loops[i] = new SocketLoop($"pnh-loop-{i}", clock, log);
        }
    }

    /// <summary>Whether this machine has what the loops need.</summary>
    public static bool IsSupported => OperatingSystem.IsLinux() && Environment.Is64BitProcess && BitConverter.IsLittleEndian;

    /// <summary>
    /// One loop for each two cores: the other half of the machine is for what follows (journal, providers, fan-out), and fewer loops find
    /// more to do in one turn.
    /// </summary>
    public static int DefaultCount => Math.Max(1, Environment.ProcessorCount / 2);

    /// <summary>Connections served.</summary>
    public int Count => _loops.Sum(static loop => loop.Count);

    /// <summary>The next loop in turn.</summary>
    public SocketLoop Next() => _loops[Interlocked.Increment(ref _next) % (uint)_loops.Length];

    /// <summary>How long bytes that arrive wait at the slowest loop. For one asker.</summary>
    public TimeSpan TakeLongestTurn()
    {
        var longest = TimeSpan.Zero;
        foreach (var loop in _loops)
        {
            var turn = loop.TakeLongestTurn();
            longest = turn > longest ? turn : longest;
        }

        return longest;
    }

    /// <summary>
    /// Listens; <paramref name="create"/> makes the client of each connection, on a loop. Throws <see cref="SocketException"/> when the address
    /// cannot be had. Disposing the listener closes it, not its connections. Without a <paramref name="budget"/> nothing bounds their number.
    /// </summary>
    public LoopListener Listen(IPEndPoint endPoint, int acceptsPerSecond, Func<ILoopClient> create, ConnectionBudget? budget = null)
    {
        var socket = new Socket(endPoint.AddressFamily, SocketType.Stream, ProtocolType.Tcp) { Blocking = false };
        try
        {
            if (IPAddress.IPv6Any.Equals(endPoint.Address))
            {
                socket.DualMode = true;
            }

            socket.Bind(endPoint);
            socket.Listen(Backlog);
            var listener = new LoopListener(
                socket, this, _loops[0], create, budget ?? ConnectionBudget.Unlimited(_clock, _log), acceptsPerSecond, _clock, _log);
            _loops[0].Listen(listener);
            return listener;
        }
        catch
        {
            socket.Dispose();
            throw;
        }
    }

    /// <summary>Closes every connection and ends the threads.</summary>
    public void Dispose()
    {
        foreach (var loop in _loops)
        {
            loop.Dispose();
        }
    }
}
