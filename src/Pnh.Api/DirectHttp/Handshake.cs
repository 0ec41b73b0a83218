using System.Buffers;
using System.Buffers.Text;
using System.Security.Cryptography;
using System.Text;
using Pnh.Channels.WebSockets.Server;

namespace Pnh.Api.DirectHttp;

/// <summary>The server's half of a WebSocket's opening handshake (RFC 6455 section 4.2). Pure functions.</summary>
internal static class Handshake
{
    private const int KeyCharacters = 24;
    private const int AcceptCharacters = 28;
    private static readonly byte[] Protocol = Encoding.ASCII.GetBytes(WebSocketServer.Protocol);

    private static ReadOnlySpan<byte> Salt => "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"u8;

    /// <summary>True when it is the base64 form of 16 bytes.</summary>
    public static bool IsKey(ReadOnlySpan<byte> value)
    {
        Span<byte> nonce = stackalloc byte[18];
        return value.Length == KeyCharacters
            && Base64.DecodeFromUtf8(value, nonce, out _, out var length) == OperationStatus.Done && length == 16;
    }

    /// <summary>
    /// Writes the answer 101; the subprotocol is in it when the client asked for it (names are case-sensitive), and no extension ever is.
    /// </summary>
    /// <param name="output">Where to; some 250 bytes.</param>
    /// <param name="key">As <see cref="IsKey"/> takes it.</param>
    /// <param name="protocols">What the client asked for, separated by commas; may be empty.</param>
    /// <param name="dateLine">A line <c>Date: …</c> with its end.</param>
    public static void Write(IBufferWriter<byte> output, ReadOnlySpan<byte> key, ReadOnlySpan<byte> protocols, ReadOnlySpan<byte> dateLine)
    {
        Span<byte> salted = stackalloc byte[KeyCharacters + 36];
        key.CopyTo(salted);
        Salt.CopyTo(salted[KeyCharacters..]);
        Span<byte> hash = stackalloc byte[SHA1.HashSizeInBytes];
#pragma warning disable CA5350 // RFC 6455 asks for SHA-1; nothing is kept secret by it.
        SHA1.HashData(salted, hash);
#pragma warning restore CA5350
        output.Write("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\n"u8);
        output.Write(dateLine);
        output.Write("Upgrade: websocket\r\nSec-WebSocket-Accept: "u8);
        Span<byte> accept = stackalloc byte[AcceptCharacters];
        Base64.EncodeToUtf8(hash, accept, out _, out _);
        output.Write(accept);
        if (Offers(protocols))
        {
            output.Write("\r\nSec-WebSocket-Protocol: "u8);
            output.Write(Protocol);
        }

        output.Write("\r\n\r\n"u8);
    }

    private static bool Offers(ReadOnlySpan<byte> protocols)
    {
        foreach (var range in protocols.Split((byte)','))
        {
            if (protocols[range].Trim(" \t"u8).SequenceEqual(Protocol))
            {
                return true;
            }
        }

        return false;
    }
}
