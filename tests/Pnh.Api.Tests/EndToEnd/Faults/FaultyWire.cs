using System.Net;
using System.Net.Sockets;

namespace Pnh.Api.Tests.EndToEnd.Faults;

/// <summary>What a wire does to the bytes that go over it, those of TLS included.</summary>
internal enum WireFault
{
    /// <summary>Carries them.</summary>
    None,

    /// <summary>Takes connections and requests, and keeps every answer until the fault is over.</summary>
    Silent,

    /// <summary>One byte of an answer per second.</summary>
    Trickle,

    /// <summary>Half of an answer, then a TCP reset: within a TLS record, as a rule.</summary>
    Cut,
}

/// <summary>
/// A TCP relay on loopback in front of a provider. Nobody listens before <see cref="Listen"/>: connections are refused, and the port is ours all the same.
/// </summary>
internal sealed class FaultyWire : IAsyncDisposable
{
    private readonly Socket _listener = new(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp);
    private readonly CancellationTokenSource _stopping = new();
    private readonly TimeProvider _time;
    private TaskCompletionSource _healed = new(TaskCreationOptions.RunContinuationsAsynchronously);
    private volatile WireFault _fault;
    private Task _accepting = Task.CompletedTask;

    public FaultyWire(TimeProvider time)
    {
        _time = time;
        _listener.Bind(new IPEndPoint(IPAddress.Loopback, 0));
        Address = new Uri($"https://localhost:{((IPEndPoint)_listener.LocalEndPoint!).Port}/");
    }

    public Uri Address { get; }

    /// <summary>Where the bytes go.</summary>
    public Uri Target { get; set; } = null!;

    public WireFault Fault
    {
        get => _fault;
        set
        {
            _fault = value;
            if (value == WireFault.None)
            {
                Interlocked.Exchange(ref _healed, new(TaskCreationOptions.RunContinuationsAsynchronously)).SetResult();
            }
        }
    }

    public void Listen()
    {
        _listener.Listen();
        _accepting = AcceptAsync();
    }

    public async ValueTask DisposeAsync()
    {
        await _stopping.CancelAsync();
        await _accepting;
        _listener.Dispose();
    }

    private async Task AcceptAsync()
    {
        List<Task> relays = [];
        try
        {
            while (true)
            {
                relays.Add(RelayAsync(await _listener.AcceptAsync(_stopping.Token)));
            }
        }
        catch (OperationCanceledException)
        {
            await Task.WhenAll(relays);
        }
    }

    private async Task RelayAsync(Socket client)
    {
        using var server = new Socket(SocketType.Stream, ProtocolType.Tcp) { NoDelay = true };
        using (client)
        {
            client.NoDelay = true;
            try
            {
                await server.ConnectAsync(new DnsEndPoint(Target.Host, Target.Port), _stopping.Token);
                using var ended = CancellationTokenSource.CreateLinkedTokenSource(_stopping.Token);
                var requests = CopyAsync(client, server, ended.Token);
                var answers = AnswerAsync(server, client, ended.Token);
                await Task.WhenAny(requests, answers);
                await ended.CancelAsync();
                await Task.WhenAll(requests, answers);
            }
            catch (Exception exception) when (exception is SocketException or OperationCanceledException or ObjectDisposedException)
            {
                // A client that is left sees the end of its connection.
            }
        }
    }

    private static async Task CopyAsync(Socket from, Socket to, CancellationToken ended)
    {
        var buffer = new byte[64 * 1024];
        while (await from.ReceiveAsync(buffer, ended) is > 0 and var length)
        {
            await SendAsync(to, buffer.AsMemory(0, length), ended);
        }
    }

    private async Task AnswerAsync(Socket from, Socket to, CancellationToken ended)
    {
        var buffer = new byte[64 * 1024];
        while (await from.ReceiveAsync(buffer, ended) is > 0 and var length)
        {
            var bytes = buffer.AsMemory(0, length);
            var healed = Volatile.Read(ref _healed).Task;
            switch (Fault)
            {
                case WireFault.Silent:
                    await healed.WaitAsync(ended);
                    break;
                case WireFault.Trickle:
                    for (; bytes.Length > 1 && !healed.IsCompleted; bytes = bytes[1..])
                    {
                        await SendAsync(to, bytes[..1], ended);
                        await Task.WhenAny(Task.Delay(TimeSpan.FromSeconds(1), _time, ended), healed);
                    }

                    break;
                case WireFault.Cut:
                    await SendAsync(to, bytes[..(length / 2)], ended);
                    to.LingerState = new LingerOption(enable: true, 0);
                    return;
                default:
                    break;
            }

            await SendAsync(to, bytes, ended);
        }
    }

    private static async Task SendAsync(Socket to, ReadOnlyMemory<byte> bytes, CancellationToken ended)
    {
        while (bytes.Length > 0)
        {
            bytes = bytes[await to.SendAsync(bytes, SocketFlags.None, ended)..];
        }
    }
}
