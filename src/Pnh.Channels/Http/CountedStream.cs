using System.Net.Sockets;

namespace Pnh.Channels.Http;

/// <summary>A connection that tells its gate when it begins and ends.</summary>
internal sealed class CountedStream : NetworkStream
{
    private readonly ConnectionGate _gate;
    private int _closed;

    public CountedStream(Socket socket, ConnectionGate gate)
        : base(socket, ownsSocket: true)
    {
        _gate = gate;
        gate.Opened(this);
    }

    protected override void Dispose(bool disposing)
    {
        if (Interlocked.Exchange(ref _closed, 1) == 0)
        {
            _gate?.Closed(this);
        }

        base.Dispose(disposing);
    }
}
