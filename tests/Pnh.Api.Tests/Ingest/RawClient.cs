using System.Globalization;
using System.Net;
using System.Net.Sockets;
using System.Text;
using Pnh.Api.Tests.FrontDoor;

namespace Pnh.Api.Tests.Ingest;

/// <summary>A TCP connection that speaks HTTP/1.1 by hand, byte by byte if need be.</summary>
internal sealed class RawClient : IDisposable
{
    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(60);
    private readonly Socket _socket = new(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp) { NoDelay = true };
    private readonly byte[] _buffer = new byte[64 * 1024];
    private string _arrived = "";

    /// <summary>True when the connection ended by a reset, with which what was on its way is lost.</summary>
    internal bool WasReset { get; private set; }

    /// <summary>Bytes that have arrived and are not read.</summary>
    internal int Available => _socket.Available;

    internal static async Task<RawClient> ConnectAsync(int port, IPAddress? address = null)
    {
        var client = new RawClient();
        using var patience = new CancellationTokenSource(Patience);
        await client._socket.ConnectAsync(address ?? IPAddress.Loopback, port, patience.Token);
        return client;
    }

    internal async Task SendAsync(string text)
    {
        using var patience = new CancellationTokenSource(Patience);
        var bytes = Encoding.Latin1.GetBytes(text);
        for (var sent = 0; sent < bytes.Length;)
        {
            sent += await _socket.SendAsync(bytes.AsMemory(sent), SocketFlags.None, patience.Token);
        }
    }

    /// <summary>Ends the connection with a reset, not with an orderly end.</summary>
    internal void Reset()
    {
        _socket.LingerState = new LingerOption(enable: true, seconds: 0);
        _socket.Close();
    }

    internal void EndSending() => _socket.Shutdown(SocketShutdown.Send);

    /// <summary>The same when the hub may have closed before.</summary>
    internal void TryEndSending()
    {
        try
        {
            EndSending();
        }
        catch (SocketException)
        {
            // It has.
        }
    }

    /// <summary>One answer whose length is told.</summary>
    internal async Task<WireAnswer> ReceiveAsync()
    {
        await ReceiveUntilAsync(static text => text.Contains("\r\n\r\n", StringComparison.Ordinal));
        var end = _arrived.IndexOf("\r\n\r\n", StringComparison.Ordinal);
        var head = _arrived[..end];
        var answer = new WireAnswer(int.Parse(head.AsSpan(9, 3), CultureInfo.InvariantCulture), head, "");
        var length = int.Parse(answer.Header("Content-Length") ?? "0", CultureInfo.InvariantCulture);
        await ReceiveUntilAsync(text => text.Length >= end + 4 + length);
        var body = _arrived.Substring(end + 4, length);
        _arrived = _arrived[(end + 4 + length)..];
        return answer with { Body = body };
    }

    /// <summary>Everything up to the end of the connection; an end by reset counts as well.</summary>
    internal async Task<string> ReceiveAllAsync()
    {
        while (await ReadAsync())
        {
        }

        return _arrived;
    }

    internal async Task ReceiveUntilAsync(Func<string, bool> isEnough)
    {
        while (!isEnough(_arrived))
        {
            Assert.True(await ReadAsync(), $"Closed after {_arrived}");
        }
    }

    public void Dispose() => _socket.Dispose();

    private async Task<bool> ReadAsync()
    {
        using var patience = new CancellationTokenSource(Patience);
        try
        {
            var count = await _socket.ReceiveAsync(_buffer, SocketFlags.None, patience.Token);
            _arrived += Encoding.Latin1.GetString(_buffer, 0, count);
            return count > 0;
        }
        catch (SocketException)
        {
            WasReset = true;
            return false;
        }
    }
}
