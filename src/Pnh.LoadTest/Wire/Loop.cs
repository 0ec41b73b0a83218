using System.Diagnostics;
using Pnh.Channels.Net.Epoll;

namespace Pnh.LoadTest.Wire;

/// <summary>
/// One thread that serves every connection of the tool: no locks, no tasks, no pool, so that it stays cheaper than what it measures. Not thread-safe.
/// </summary>
/// <param name="polls">
/// Whether it asks again and again instead of sleeping until something comes: it takes its core whole, and its own waking up, 0.4 to 1.5 ms of a broadcast to 1,000 on average, is in no latency.
/// </param>
internal sealed unsafe class Loop(bool polls = false) : IDisposable
{
    private const int PerTurn = 512;

    // Some 4 us between two questions: one after the other they would hold the locks that the server's sends to these sockets want.
    private const int PollPause = 100;

    private readonly int _epoll = Syscalls.CreateEpoll();
    private readonly byte[] _records = GC.AllocateUninitializedArray<byte>(PerTurn * 16, pinned: true);
    private ClientConnection?[] _connections = new ClientConnection?[1024];

    /// <summary>Room that every read shares; what is not used up is kept by its connection.</summary>
    public byte[] Input { get; } = GC.AllocateUninitializedArray<byte>(256 * 1024, pinned: true);

    /// <summary>Called in every turn with the time: what is due.</summary>
    public List<Action<long>> Turns { get; } = [];

    /// <summary>Runs for so many seconds, or until <paramref name="done"/>, which is then the answer.</summary>
    public bool Run(double seconds, Func<bool>? done = null)
    {
        var end = Stopwatch.GetTimestamp() + (long)(seconds * Stopwatch.Frequency);
        while (done is null || !done())
        {
            if (Stopwatch.GetTimestamp() >= end)
            {
                return false;
            }

            Turn();
        }

        return true;
    }

    public void Dispose()
    {
        foreach (var connection in _connections)
        {
            connection?.Close(reset: false);
        }

        _ = Syscalls.Close(_epoll);
    }

    internal void Add(int descriptor, ClientConnection connection)
    {
        if (descriptor >= _connections.Length)
        {
            Array.Resize(ref _connections, Math.Max(descriptor + 1, _connections.Length * 2));
        }

        _connections[descriptor] = connection;
        _ = Syscalls.Control(_epoll, Syscalls.EpollAdd, descriptor, Syscalls.EpollIn | Syscalls.EpollOut);
    }

    internal void Await(int descriptor, bool room) =>
        _ = Syscalls.Control(_epoll, Syscalls.EpollModify, descriptor, room ? Syscalls.EpollIn | Syscalls.EpollOut : Syscalls.EpollIn);

    internal void Forget(int descriptor) => _connections[descriptor] = null;

    private void Turn()
    {
        fixed (byte* records = _records)
        {
            // 1 ms is the precision of what is due; latencies count from when it was due, so this is never hidden.
            var ready = Syscalls.Wait(_epoll, records, PerTurn, polls ? 0 : 1);
            for (var i = 0; i < ready; i++)
            {
                var record = records + (i * EpollRecord.Size);
                _connections[EpollRecord.Descriptor(record)]?.Serve(EpollRecord.Events(record));
            }

            if (polls && ready == 0)
            {
                Thread.SpinWait(PollPause);
            }
        }

        var now = Stopwatch.GetTimestamp();
        foreach (var turn in Turns)
        {
            turn(now);
        }
    }
}
