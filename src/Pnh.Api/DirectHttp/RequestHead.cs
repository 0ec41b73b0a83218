using System.Buffers;
using System.Text;
using Pnh.Api.Bodies;
using Pnh.Core.Events;

namespace Pnh.Api.DirectHttp;

/// <summary>What the beginning of a connection's bytes is.</summary>
internal enum HeadKind
{
    /// <summary>Not all of a head that may become one of ours.</summary>
    NeedMore,

    /// <summary>A POST of one event, as nearly all are.</summary>
    Event,

    /// <summary>An upgrade to a WebSocket.</summary>
    Upgrade,

    /// <summary>Anything else, the malformed included: for Kestrel, which says so.</summary>
    Other,
}

/// <summary>
/// The head of a request (RFC 9112 sections 2 to 5) of one of the two forms served here. Knows only what those need and takes no liberties: whatever
/// is unusual is <see cref="HeadKind.Other"/>, so that no request means one thing here and another one there. Spans of what was read; no allocation.
/// </summary>
internal ref struct RequestHead
{
    /// <summary>Fields that a head may have.</summary>
    public const int MaxFields = 50;

    /// <summary>Bytes that a head may have.</summary>
    public const int MaxBytes = 16 * 1024;

    private static readonly SearchValues<byte> TokenBytes =
        SearchValues.Create("!#$%&'*+-.^_`|~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"u8);

    private static readonly SearchValues<byte> NameBytes =
        SearchValues.Create("-._0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"u8);

    private static readonly SearchValues<byte> Ip6Bytes = SearchValues.Create(".:0123456789ABCDEFabcdef"u8);

    /// <summary>Bytes of the head, the empty line included.</summary>
    public int Length;

    /// <summary>Bytes of the body of an event.</summary>
    public int ContentLength;

    /// <summary>The client wants the connection closed after the answer.</summary>
    public bool IsLast;

    /// <summary>Value of Authorization; empty = none.</summary>
    public ReadOnlySpan<byte> Authorization;

    /// <summary>Value of traceparent when it may be one; empty = none.</summary>
    public ReadOnlySpan<byte> TraceParent;

    /// <summary>Value of User-Agent; empty = none.</summary>
    public ReadOnlySpan<byte> UserAgent;

    /// <summary>Value of Host.</summary>
    public ReadOnlySpan<byte> Host;

    /// <summary>Value of Origin, of an upgrade; empty = none.</summary>
    public ReadOnlySpan<byte> Origin;

    /// <summary>Value of Sec-WebSocket-Key.</summary>
    public ReadOnlySpan<byte> SocketKey;

    /// <summary>Value of Sec-WebSocket-Protocol; empty = none.</summary>
    public ReadOnlySpan<byte> SocketProtocols;

    private Seen _seen;

    [Flags]
    private enum Seen
    {
        None = 0,
        Host = 1,
        ContentLength = 2,
        ContentType = 4,
        Authorization = 8,
        Connection = 16,
        TraceParent = 32,
        UserAgent = 64,
        Upgrade = 128,
        SocketKey = 256,
        SocketProtocols = 512,
        SocketVersion = 1024,
        UpgradeWanted = 2048,
        Origin = 4096,
        Event = Host | ContentLength | ContentType | Authorization,
        Socket = Host | Connection | Upgrade | SocketKey | SocketVersion | UpgradeWanted,
    }

    private static ReadOnlySpan<byte> EventLine => "POST /v1/events HTTP/1.1\r\n"u8;

    private static ReadOnlySpan<byte> SocketLine => "GET /v1/socket HTTP/1.1\r\n"u8;

    /// <summary>Reads the head at the begin of <paramref name="bytes"/>; <paramref name="head"/> counts only for the two forms.</summary>
    public static HeadKind Read(ReadOnlySpan<byte> bytes, out RequestHead head)
    {
        head = default;
        if (bytes.StartsWith(EventLine))
        {
            return head.ReadFields(bytes, EventLine.Length, HeadKind.Event);
        }

        if (bytes.StartsWith(SocketLine))
        {
            return head.ReadFields(bytes, SocketLine.Length, HeadKind.Upgrade);
        }

        return EventLine.StartsWith(bytes) || SocketLine.StartsWith(bytes) ? HeadKind.NeedMore : HeadKind.Other;
    }

    private HeadKind ReadFields(ReadOnlySpan<byte> bytes, int start, HeadKind kind)
    {
        var window = bytes[..Math.Min(bytes.Length, MaxBytes)];
        for (var count = 0; ; count++)
        {
            var length = window[start..].IndexOf((byte)'\n');
            if (length < 0)
            {
                return window.Length < MaxBytes ? HeadKind.NeedMore : HeadKind.Other;
            }

            if (length == 0 || window[start + length - 1] != '\r')
            {
                return HeadKind.Other;
            }

            var line = window.Slice(start, length - 1);
            start += length + 1;
            if (line.IsEmpty)
            {
                Length = start;
                return IsWhole(kind) ? kind : HeadKind.Other;
            }

            if (count == MaxFields || !TakeLine(line, kind))
            {
                return HeadKind.Other;
            }
        }
    }

    private readonly bool IsWhole(HeadKind kind) => kind == HeadKind.Event
        ? (_seen & Seen.Event) == Seen.Event && (_seen & (Seen.Upgrade | Seen.UpgradeWanted)) == 0
        : (_seen & Seen.Socket) == Seen.Socket && (_seen & Seen.ContentLength) == 0 && !IsLast;

    private bool TakeLine(ReadOnlySpan<byte> line, HeadKind kind)
    {
        var colon = line.IndexOf((byte)':');
        if (colon <= 0 || line[..colon].ContainsAnyExcept(TokenBytes))
        {
            return false;
        }

        var value = line[(colon + 1)..].Trim(" \t"u8);
        return !value.ContainsAnyExceptInRange((byte)' ', (byte)'~') && TakeField(line[..colon], value, kind);
    }

    // False = not for us: what changes the meaning of the request, or is there twice.
    private bool TakeField(ReadOnlySpan<byte> name, ReadOnlySpan<byte> value, HeadKind kind)
    {
        switch (name.Length)
        {
            case 4 when Is(name, "host"u8):
                Host = value;
                return Once(Seen.Host) && IsHost(value);
            case 6 when Is(name, "expect"u8):
                return false;
            case 6 when Is(name, "origin"u8):
                Origin = value;
                return Once(Seen.Origin) && kind == HeadKind.Upgrade; // a page that posts events wants CORS headers
            case 7 when Is(name, "upgrade"u8):
                return Once(Seen.Upgrade) && kind == HeadKind.Upgrade && Is(value, "websocket"u8);
            case 10 when Is(name, "connection"u8):
                return Once(Seen.Connection) && TakeConnection(value);
            case 10 when Is(name, "user-agent"u8):
                UserAgent = value;
                return Once(Seen.UserAgent);
            case 11 when Is(name, "traceparent"u8):
                TraceParent = value;
                return Once(Seen.TraceParent);
            case 12 when Is(name, "content-type"u8):
                return Once(Seen.ContentType) && IsJson(value);
            case 13 when Is(name, "authorization"u8):
                Authorization = value;
                return Once(Seen.Authorization) && !value.IsEmpty;
            case 14 when Is(name, "content-length"u8):
                return Once(Seen.ContentLength) && TakeLength(value);
            case 15 when Is(name, "idempotency-key"u8): // an id, which Kestrel's way reads
            case 16 when Is(name, "content-encoding"u8):
            case 17 when Is(name, "transfer-encoding"u8):
                return false;
            default:
                return name.Length < 17 || kind == HeadKind.Event || TakeSocketField(name, value);
        }
    }

    private bool TakeSocketField(ReadOnlySpan<byte> name, ReadOnlySpan<byte> value)
    {
        switch (name.Length)
        {
            case 17 when Is(name, "sec-websocket-key"u8):
                SocketKey = value;
                return Once(Seen.SocketKey) && Handshake.IsKey(value);
            case 21 when Is(name, "sec-websocket-version"u8):
                return Once(Seen.SocketVersion) && value.SequenceEqual("13"u8);
            case 22 when Is(name, "sec-websocket-protocol"u8):
                SocketProtocols = value;
                return Once(Seen.SocketProtocols);
            default:
                return true;
        }
    }

    // RFC 9110 section 7.6.1: options are a list; those that others than we know are left to Kestrel.
    private bool TakeConnection(ReadOnlySpan<byte> value)
    {
        foreach (var range in value.Split((byte)','))
        {
            var option = value[range].Trim(" \t"u8);
            if (Is(option, "upgrade"u8))
            {
                _seen |= Seen.UpgradeWanted;
            }
            else if (Is(option, "close"u8))
            {
                IsLast = true;
            }
            else if (!Is(option, "keep-alive"u8))
            {
                return false;
            }
        }

        return true;
    }

    private bool TakeLength(ReadOnlySpan<byte> value)
    {
        if (value.Length is 0 or > 6 || value.ContainsAnyExceptInRange((byte)'0', (byte)'9'))
        {
            return false;
        }

        foreach (var digit in value)
        {
            ContentLength = (ContentLength * 10) + digit - '0';
        }

        return ContentLength <= Limits.EventBytes;
    }

    private bool Once(Seen field)
    {
        var isFirst = (_seen & field) == 0;
        _seen |= field;
        return isFirst;
    }

    // A name or IPv4 address, or something in brackets as short as [::], and perhaps a port.
    private static bool IsHost(ReadOnlySpan<byte> value)
    {
        var isBracketed = value.StartsWith("["u8);
        var length = isBracketed ? value.IndexOf((byte)']') : value.IndexOf((byte)':') is >= 0 and var colon ? colon : value.Length;
        if (isBracketed ? length < 3 || value[1..length].ContainsAnyExcept(Ip6Bytes) : length == 0 || value[..length].ContainsAnyExcept(NameBytes))
        {
            return false;
        }

        var port = value[(isBracketed ? length + 1 : length)..];
        return port.IsEmpty || (port[0] == ':' && port.Length is > 1 and <= 6 && !port[1..].ContainsAnyExceptInRange((byte)'0', (byte)'9'));
    }

    private static bool IsJson(ReadOnlySpan<byte> value)
    {
        if (value.SequenceEqual("application/json"u8))
        {
            return true;
        }

        Span<char> text = stackalloc char[64];
        return value.Length <= text.Length && RequestBody.IsType(text[..Encoding.ASCII.GetChars(value, text)], RequestBody.Json);
    }

    private static bool Is(ReadOnlySpan<byte> text, ReadOnlySpan<byte> lowercase) => Ascii.EqualsIgnoreCase(text, lowercase);
}
