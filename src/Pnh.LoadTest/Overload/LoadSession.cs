using System.Net;
using System.Text;
using Pnh.LoadTest.Clients;
using Pnh.LoadTest.Integrity;
using Pnh.LoadTest.Wire;

namespace Pnh.LoadTest.Overload;

/// <summary>A frame came. Due: Stopwatch ticks.</summary>
internal delegate void Delivered(LoadSession session, ReadOnlySpan<byte> id, int @class, long due);

/// <summary>
/// One WebSocket session that says hello, acknowledges what each read brought in one ack, and tells when its frames were due. Comes back when it is closed.
/// </summary>
internal sealed class LoadSession : ClientConnection
{
    private readonly IPEndPoint _server;
    private readonly string _user;
    private readonly string _device;
    private readonly string _token;
    private readonly Delivered _delivered;
    private bool _isUpgraded;

    public LoadSession(Loop loop, IPEndPoint server, string user, string device, string token, Delivered delivered)
        : base(loop)
    {
        (_server, _user, _device, _token, _delivered) = (server, user, device, token, delivered);
        Connect(server, null);
    }

    /// <summary>Times that it was closed by the hub.</summary>
    public int Closed { get; private set; }

    public bool IsWelcome { get; private set; }

    protected override void Connected()
    {
        _isUpgraded = false;
        Send(Encoding.ASCII.GetBytes(
            $"GET /v1/socket HTTP/1.1\r\nHost: {_server}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n"));
    }

    protected override int Receive(ReadOnlySpan<byte> bytes)
    {
        var used = 0;
        if (!_isUpgraded)
        {
            if (!ClientAnswer.TryRead(bytes, out var status, out _, out used))
            {
                return 0;
            }

            _isUpgraded = status == 101 ? true : throw new InvalidDataException($"the upgrade of {_user} was answered {status}");
            Send(Frames.OfText(Encoding.ASCII.GetBytes($$"""{"type":"hello","token":"{{_token}}","device":"{{_device}}","state":"active"}""")));
        }

        var seq = 0L;
        while (Frames.TryRead(bytes[used..], out var opcode, out var payload, out var length))
        {
            used += length;
            if (opcode == Frames.Text)
            {
                seq = Math.Max(seq, Read(payload));
            }
            else if (opcode == Frames.Ping)
            {
                Send([0x80 | Frames.Pong, 0x80, 0, 0, 0, 0]);
            }
        }

        if (seq > 0)
        {
            Acknowledge(seq);
        }

        return used;
    }

    protected override void Lost()
    {
        Closed++;
        Connect(_server, null);
    }

    private void Acknowledge(long seq)
    {
        Span<byte> frame = stackalloc byte[64];
        Send(frame[..PnhPeer.WriteAck(frame, seq)]);
    }

    /// <summary>The frame's seq; 0 = not an event.</summary>
    private long Read(ReadOnlySpan<byte> frame)
    {
        if (!frame.StartsWith("{\"type\":\"event\""u8))
        {
            IsWelcome |= frame.StartsWith("{\"type\":\"welcome\""u8);
            return 0;
        }

        var at = frame.IndexOf(EventRequest.TimeMember) + EventRequest.TimeMember.Length;
        var id = frame[(frame.IndexOf("\"id\":\""u8) + 6)..];
        _delivered(this, id[..id.IndexOf((byte)'"')], ClassOf(frame), MessagePayload.Number(frame.Slice(at, EventRequest.TimeDigits)));
        return MessagePayload.Number(frame[(frame.IndexOf("\"seq\":"u8) + 6)..]);
    }

    private static int ClassOf(ReadOnlySpan<byte> frame) => frame[frame.IndexOf("\"class\":\""u8) + 9] switch
    {
        (byte)'c' => Mix.Call,
        (byte)'m' => Mix.Message,
        _ => Mix.Bulk,
    };
}
