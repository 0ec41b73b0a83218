using System.Collections.Concurrent;
using System.Net;
using System.Net.Sockets;

namespace Pnh.Api.Tests.ClientLibrary;

/// <summary>TCP between a client and the hub, which a test can cut.</summary>
internal sealed class CutWire : IAsyncDisposable
{
    private readonly TcpListener _listener = new(IPAddress.Loopback, 0);
    private readonly ConcurrentDictionary<Socket, bool> _open = new();
    private readonly int _hubPort;
    private int _count;
    private readonly Task _accepting;

    public CutWire(Uri hub)
    {
        _hubPort = hub.Port;
        _listener.Start();
        _accepting = AcceptAsync();
    }

    /// <summary>Connections so far.</summary>
    public int Count => Volatile.Read(ref _count);

    /// <summary>True = nothing passes, and neither end hears of it.</summary>
    public bool IsHeld { get; set; }

    public int Port => ((IPEndPoint)_listener.LocalEndpoint).Port;

    /// <summary>Every connection breaks; new ones go through.</summary>
    public void Cut()
    {
        foreach (var (socket, _) in _open)
        {
            socket.Close(0); // RST
        }
    }

    public async ValueTask DisposeAsync()
    {
        _listener.Stop();
        Cut();
        await _accepting;
    }

    private async Task AcceptAsync()
    {
        try
        {
            while (true)
            {
                _ = CarryAsync(await _listener.AcceptSocketAsync());
            }
        }
        catch (Exception fault) when (fault is SocketException or ObjectDisposedException or InvalidOperationException)
        {
            // The test ends.
        }
    }

    private async Task CarryAsync(Socket near)
    {
        Interlocked.Increment(ref _count);
        var far = new Socket(SocketType.Stream, ProtocolType.Tcp);
        (_open[near], _open[far]) = (true, true);
        try
        {
            await far.ConnectAsync(new IPEndPoint(IPAddress.Loopback, _hubPort));
        }
        catch (Exception fault) when (fault is SocketException or ObjectDisposedException)
        {
            near.Close(0); // it was cut meanwhile
            return;
        }

        await Task.WhenAll(CarryAsync(near, far), CarryAsync(far, near));
    }

    private async Task CarryAsync(Socket from, Socket to)
    {
        var buffer = new byte[16 * 1024];
        try
        {
            while (await from.ReceiveAsync(buffer) is > 0 and var count)
            {
                if (!IsHeld)
                {
                    await to.SendAsync(buffer.AsMemory(0, count));
                }
            }

            to.Shutdown(SocketShutdown.Send);
        }
        catch (Exception fault) when (fault is SocketException or ObjectDisposedException)
        {
            to.Close(0);
        }

        _open.TryRemove(from, out _);
    }
}
