using System.Buffers;
using System.Net.WebSockets;
using Pnh.Channels.WebSockets.Rfc6455;

namespace Pnh.Channels.WebSockets.Server;

/// <summary>
/// Puts messages together. Waits with an empty buffer, so an idle connection holds none of ours; the buffer is rented when bytes are there and
/// returned before the next wait. One reader per connection; not thread-safe.
/// </summary>
internal sealed class MessageReader : IDisposable
{
    /// <summary>Holds acks, states and most hellos.</summary>
    private const int FirstBytes = 1024;

    private readonly WebSocket _socket;
    private readonly int _maxBytes;
    private byte[]? _buffer;
    private int _length;

    public MessageReader(WebSocket socket, int maxBytes)
    {
        _socket = socket;
        _maxBytes = maxBytes;
    }

    /// <summary>The message last read; valid until the next read.</summary>
    public ReadOnlyMemory<byte> Message => _buffer.AsMemory(0, _length);

    /// <summary>
    /// Reads the next message. Throws as <see cref="WebSocket.ReceiveAsync(Memory{byte}, CancellationToken)"/> does when the connection is
    /// lost.
    /// </summary>
    public async ValueTask<Received> ReadAsync()
    {
        Dispose();
        var result = await _socket.ReceiveAsync(Memory<byte>.Empty, CancellationToken.None);
        while (result.MessageType != WebSocketMessageType.Close && !result.EndOfMessage)
        {
            if (_length > _maxBytes)
            {
                return Received.TooBig;
            }

            MakeRoom();
            result = await _socket.ReceiveAsync(_buffer.AsMemory(_length), CancellationToken.None);
            _length += result.Count;
        }

        return result.MessageType switch
        {
            WebSocketMessageType.Close => Received.Closed,
            WebSocketMessageType.Binary => Received.Binary,
            _ => _length > _maxBytes ? Received.TooBig : Received.Text,
        };
    }

    /// <summary>Returns the buffer.</summary>
    public void Dispose()
    {
        if (_buffer is { } buffer)
        {
            ArrayPool<byte>.Shared.Return(buffer, clearArray: true); // may have held a client token
            _buffer = null;
        }

        _length = 0;
    }

    private void MakeRoom()
    {
        if (_buffer is not null && _length < _buffer.Length)
        {
            return;
        }

        var grown = ArrayPool<byte>.Shared.Rent(Math.Clamp(_length * 4, FirstBytes, _maxBytes + 1));
        if (_buffer is { } old)
        {
            old.AsSpan(0, _length).CopyTo(grown);
            ArrayPool<byte>.Shared.Return(old, clearArray: true);
        }

        _buffer = grown;
    }
}
