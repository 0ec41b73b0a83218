using System.Buffers;
using System.Buffers.Binary;
using System.Text;
using Pnh.Core.Events;
using Pnh.Core.Sessions;

namespace Pnh.Channels.Links.Protocol;

/// <summary>
/// Writes items one behind the other into a batch: four bytes of length, little endian, that count what follows; one byte of <see cref="LinkItemKind"/>; the members. Numbers are
/// seven bits a byte, texts and bytes have their length before them. Not thread-safe.
/// </summary>
internal sealed class LinkWriter
{
    private readonly ArrayBufferWriter<byte> _batch = new();
    private int _itemAt = -1;
    private int _from; // what End counts begins here

    /// <summary>The items that are complete.</summary>
    public ReadOnlyMemory<byte> Written => _batch.WrittenMemory;

    /// <summary>Forgets what was written; its memory is used again.</summary>
    public void Clear() => _batch.ResetWrittenCount();

    /// <summary>Begins an item. Ended by <see cref="End"/>.</summary>
    public LinkWriter Begin(LinkItemKind kind)
    {
        _itemAt = _from = _batch.WrittenCount;
        var head = _batch.GetSpan(LinkReader.HeadBytes);
        head[LinkReader.LengthBytes] = (byte)kind;
        _batch.Advance(LinkReader.HeadBytes);
        return this;
    }

    /// <summary>Opens the last item again, for further members. False when it has no room for many: then nothing was done.</summary>
    public bool TryReopen()
    {
        if (_batch.WrittenCount - _itemAt > LinkReader.MaxItemBytes / 2)
        {
            return false;
        }

        _from = _batch.WrittenCount;
        return true;
    }

    /// <summary>Ends the item and returns the bytes that came since it was begun or opened again. Throws <see cref="InvalidOperationException"/> when it is longer than an item may be.</summary>
    public int End()
    {
        var length = _batch.WrittenCount - _itemAt - LinkReader.LengthBytes;
        if (length > LinkReader.MaxItemBytes)
        {
            throw new InvalidOperationException($"An item of {length} bytes is too long for a link.");
        }

        // The batch is our own array: what was written may be written to again.
        var written = System.Runtime.InteropServices.MemoryMarshal.AsMemory(_batch.WrittenMemory);
        BinaryPrimitives.WriteInt32LittleEndian(written.Span[_itemAt..], length);
        return _batch.WrittenCount - _from;
    }

    public LinkWriter Flag(bool value) => Byte(value ? (byte)1 : (byte)0);

    /// <summary>Zero or more.</summary>
    public LinkWriter Number(long value)
    {
        ArgumentOutOfRangeException.ThrowIfNegative(value);
        for (; value > 0x7F; value >>= 7)
        {
            Byte((byte)(value | 0x80));
        }

        return Byte((byte)value);
    }

    /// <summary>Numbers up to the end of the item.</summary>
    public LinkWriter Numbers(ReadOnlySpan<long> values)
    {
        foreach (var value in values)
        {
            Number(value);
        }

        return this;
    }

    public LinkWriter Time(DateTimeOffset value) => Number(value.UtcTicks);

    /// <summary>How long ago it was; what is yet to come is now.</summary>
    public LinkWriter Age(TimeSpan value) => Number(Math.Max(0, value.Ticks));

    public LinkWriter Missed(MissedEvents value, TimeProvider time) =>
        Number(Math.Min(value.Count, ushort.MaxValue)).Age(time.GetUtcNow() - DateTimeOffset.FromUnixTimeMilliseconds(value.Since));

    public LinkWriter Text(string value)
    {
        var length = Encoding.UTF8.GetByteCount(value);
        Number(length);
        Encoding.UTF8.GetBytes(value, _batch.GetSpan(length));
        _batch.Advance(length);
        return this;
    }

    public LinkWriter OptionalText(string? value) => value is null ? Flag(false) : Flag(true).Text(value);

    public LinkWriter Texts(IReadOnlyList<string> values)
    {
        Number(values.Count);
        foreach (var value in values)
        {
            Text(value);
        }

        return this;
    }

    public LinkWriter Bytes(ReadOnlySpan<byte> value)
    {
        Number(value.Length);
        _batch.Write(value);
        return this;
    }

    public LinkWriter Key(in SessionKey key) => Text(key.App).Text(key.User).Text(key.Device).Text(key.Session);

    public LinkWriter State(SessionState state) => Byte((byte)state);

    public LinkWriter Close(SessionClose reason) => Number(reason.Code).Text(reason.Reason);

    public LinkWriter Identity(ClientIdentity identity) =>
        Text(identity.App).Text(identity.User).OptionalText(identity.Device).Texts(identity.Topics).Time(identity.ExpiresAt);

    public LinkWriter Withdrawal(Withdrawal withdrawal) => Text(withdrawal.App).Text(withdrawal.Event).Text(withdrawal.Reason).Time(withdrawal.At);

    /// <summary>An event as a link of this version carries it.</summary>
    public LinkWriter Event(Event accepted, TimeProvider time, int version) =>
        version >= LinkHello.CarriesFrames ? Frame(accepted, time) : Event(accepted, time, version == LinkHello.Tee ? accepted.Body.Span : EdgeBody.Of(accepted));

    /// <summary>A frame and what a session needs of its event. No clock goes over: its age, what is left of its time, and the age of its time-stamp in ticks and one more; 0 = unknown.</summary>
    private LinkWriter Frame(Event accepted, TimeProvider time)
    {
        var now = time.GetUtcNow();
        return Text(accepted.Id)
            .Byte((byte)accepted.Class)
            .Age(now - accepted.AcceptedAt)
            .Flag(accepted.IsNowOrNever)
            .Age(accepted.ExpiresAt - now)
            .Elapsed(accepted, time)
            .OptionalText(accepted.CollapseKey)
            .Bytes(ClientEvent.Of(accepted));
    }

    // With app, id and times beside it.
    private LinkWriter Event(Event accepted, TimeProvider time, ReadOnlySpan<byte> body) => Text(accepted.App)
        .Text(accepted.Id)
        .Time(accepted.AcceptedAt)
        .Time(accepted.ExpiresAt)
        .Elapsed(accepted, time)
        .OptionalText(accepted.TraceParent)
        .Bytes(body);

    // The monotonic clock is another one on another node: its age goes over, in ticks and one more; 0 = unknown.
    private LinkWriter Elapsed(Event accepted, TimeProvider time) =>
        Number(accepted.AcceptedTimestamp == 0 ? 0 : 1 + Math.Max(0, time.GetElapsedTime(accepted.AcceptedTimestamp).Ticks));

    private LinkWriter Byte(byte value)
    {
        _batch.GetSpan(1)[0] = value;
        _batch.Advance(1);
        return this;
    }
}
