using System.Net;
using System.Net.Sockets;
using System.Text;

namespace Pnh.Channels.Tests.WebSockets;

/// <summary>A TCP socket that speaks RFC 6455 by hand, for what a proper client never does.</summary>
internal sealed class RawClient : IDisposable
{
    private readonly Socket _socket = new(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp) { NoDelay = true };

    public static async Task<RawClient> UpgradeAsync(int port, int? receiveBuffer = null)
    {
        var client = new RawClient();
        if (receiveBuffer is { } bytes)
        {
            client._socket.ReceiveBufferSize = bytes;
        }

        await client._socket.ConnectAsync(new IPEndPoint(IPAddress.Loopback, port)).WaitAsync(SocketHost.Patience);
        await client.SendBytesAsync(Encoding.ASCII.GetBytes(
            "GET /v1/socket HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
            + "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"));
        var answer = new StringBuilder();
        var one = new byte[1];
        while (!answer.ToString().EndsWith("\r\n\r\n", StringComparison.Ordinal))
        {
            Assert.Equal(1, await client.ReceiveAsync(one));
            answer.Append((char)one[0]);
        }

        Assert.StartsWith("HTTP/1.1 101", answer.ToString(), StringComparison.Ordinal);
        return client;
    }

    /// <summary>One masked frame of less than 65,536 bytes.</summary>
    public Task SendFrameAsync(byte opcode, byte[] payload, bool isLast = true)
    {
        var frame = new List<byte> { (byte)(opcode | (isLast ? 0x80 : 0)) };
        if (payload.Length < 126)
        {
            frame.Add((byte)(0x80 | payload.Length));
        }
        else
        {
            frame.AddRange([0x80 | 126, (byte)(payload.Length >> 8), (byte)payload.Length]);
        }

        byte[] mask = [1, 2, 3, 4];
        frame.AddRange(mask);
        frame.AddRange(payload.Select((b, i) => (byte)(b ^ mask[i % 4])));
        return SendBytesAsync([.. frame]);
    }

    public Task SendTextAsync(string text) => SendFrameAsync(1, Encoding.UTF8.GetBytes(text));

    /// <summary>One frame of the server: opcode and payload; null = the connection is closed.</summary>
    public async Task<(int Opcode, byte[] Payload)?> ReadFrameAsync()
    {
        if (await ReadExactlyAsync(2) is not { } head)
        {
            return null;
        }

        var length = head[1] & 0x7F;
        if (length == 126)
        {
            var extended = (await ReadExactlyAsync(2))!;
            length = (extended[0] << 8) | extended[1];
        }

        return (head[0] & 0x0F, (await ReadExactlyAsync(length))!);
    }

    public async Task SendBytesAsync(byte[] bytes) => await _socket.SendAsync(bytes).WaitAsync(SocketHost.Patience);

    /// <summary>One write each, as far as the server takes them: it may have closed meanwhile.</summary>
    public async Task TrySendAllAsync(byte[][] writes)
    {
        try
        {
            foreach (var bytes in writes)
            {
                await SendBytesAsync(bytes);
            }
        }
        catch (SocketException)
        {
            // What it said before is still to be read.
        }
    }

    /// <summary>Closes with RST instead of FIN.</summary>
    public void Reset()
    {
        _socket.LingerState = new LingerOption(true, 0);
        _socket.Close();
    }

    public void Dispose() => _socket.Dispose();

    private async Task<byte[]?> ReadExactlyAsync(int count)
    {
        var bytes = new byte[count];
        for (var have = 0; have < count;)
        {
            var read = await ReceiveAsync(bytes.AsMemory(have));
            if (read == 0)
            {
                return null;
            }

            have += read;
        }

        return bytes;
    }

    private async Task<int> ReceiveAsync(Memory<byte> into)
    {
        try
        {
            return await _socket.ReceiveAsync(into).AsTask().WaitAsync(SocketHost.Patience);
        }
        catch (SocketException)
        {
            return 0;
        }
    }
}
