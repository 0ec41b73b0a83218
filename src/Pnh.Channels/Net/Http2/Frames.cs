using System.Buffers.Binary;

namespace Pnh.Channels.Net.Http2;

/// <summary>RFC 9113 section 6. Other types are ignored, as section 5.5 demands.</summary>
internal enum FrameType : byte
{
    Data = 0,
    Headers = 1,
    Priority = 2,
    ResetStream = 3,
    Settings = 4,
    PushPromise = 5,
    Ping = 6,
    GoAway = 7,
    WindowUpdate = 8,
    Continuation = 9,
}

/// <summary>What a bit means depends on the type; 1 ends a stream (DATA, HEADERS) or acknowledges (SETTINGS, PING).</summary>
[Flags]
internal enum FrameFlags : byte
{
    None = 0,
    EndStreamOrAck = 0x1,
    EndHeaders = 0x4,
    Padded = 0x8,
    Priority = 0x20,
}

/// <summary>RFC 9113 section 7.</summary>
internal enum Http2ErrorCode : uint
{
    NoError = 0,
    ProtocolError = 1,
    InternalError = 2,
    FlowControlError = 3,
    SettingsTimeout = 4,
    StreamClosed = 5,
    FrameSizeError = 6,
    RefusedStream = 7,
    Cancel = 8,
    CompressionError = 9,
    ConnectError = 0xa,
    EnhanceYourCalm = 0xb,
    InadequateSecurity = 0xc,
    Http11Required = 0xd,
}

/// <summary>RFC 9113 section 6.5.2. Others are ignored.</summary>
internal enum SettingId : ushort
{
    HeaderTableSize = 1,
    EnablePush = 2,
    MaxConcurrentStreams = 3,
    InitialWindowSize = 4,
    MaxFrameSize = 5,
    MaxHeaderListSize = 6,
}

/// <summary>The nine bytes before every frame's payload (RFC 9113 section 4.1).</summary>
/// <param name="Length">Bytes of payload.</param>
/// <param name="Type">A value without a name is an extension's.</param>
/// <param name="Flags">Bits that the type does not define are to be ignored.</param>
/// <param name="Stream">0 = the connection.</param>
internal readonly record struct Http2FrameHeader(int Length, FrameType Type, FrameFlags Flags, int Stream)
{
    /// <summary>Bytes.</summary>
    public const int Size = 9;

    /// <summary>What both sides may send unless SETTINGS says more, and the least SETTINGS may say.</summary>
    public const int DefaultMaxLength = 16_384;

    /// <summary>The most that SETTINGS_MAX_FRAME_SIZE may say.</summary>
    public const int LargestMaxLength = 16_777_215;

    public bool Has(FrameFlags flag) => (Flags & flag) != 0;

    public static Http2FrameHeader Read(ReadOnlySpan<byte> source) => new(
        (source[0] << 16) | (source[1] << 8) | source[2],
        (FrameType)source[3],
        (FrameFlags)source[4],
        BinaryPrimitives.ReadInt32BigEndian(source[5..]) & int.MaxValue);

    public void Write(Span<byte> target)
    {
        BinaryPrimitives.WriteInt32BigEndian(target[5..], Stream);
        target[4] = (byte)Flags;
        target[3] = (byte)Type;
        target[2] = (byte)Length;
        target[1] = (byte)(Length >> 8);
        target[0] = (byte)(Length >> 16);
    }
}
