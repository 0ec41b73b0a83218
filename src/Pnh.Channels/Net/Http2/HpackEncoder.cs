using System.Buffers.Text;
using System.Text;
using Pnh.Channels.Net.Http;

namespace Pnh.Channels.Net.Http2;

/// <summary>RFC 7541, the sending side. Keeps to the peer's SETTINGS_HEADER_TABLE_SIZE. Not thread-safe.</summary>
internal sealed class HpackEncoder
{
    /// <summary>Room for some ten accounts' headers at once; a peer that offers more gains us nothing.</summary>
    public const int TableBytes = 4096;

    private const int AuthoritySlot = HeaderName.Count;

    private readonly HpackTable _table = new(TableBytes);

    // Per name: the value that was indexed last, and which insertion it was. Most requests repeat it, and then nothing is searched.
    private readonly (string? Value, long Insertion)[] _recent = new (string?, long)[HeaderName.Count + 1];
    private readonly byte[] _scratch = new byte[TableBytes];
    private readonly bool _huffman;
    private int _smallest;
    private bool _resized;

    /// <param name="huffman">
    /// Whether what goes into the table is Huffman coded: it is sent once. A literal never is: it would cost 100 ns to save 20 bytes of a path.
    /// </param>
    public HpackEncoder(bool huffman = true) => _huffman = huffman;

    /// <summary>Entries and bytes of the dynamic table.</summary>
    public HpackTable Table => _table;

    /// <summary>The peer's limit; takes effect, and is announced, with the next block. When it fell and rose again both are announced (section 4.2).</summary>
    public void Limit(uint peerLimit)
    {
        var size = (int)Math.Min(peerLimit, TableBytes);
        if (size != _table.MaxSize)
        {
            _smallest = _resized ? Math.Min(_smallest, size) : size;
            _resized = true;
            _table.Resize(size);
        }
    }

    /// <summary>Comes before a block's first header.</summary>
    public void Begin(FrameBuffer target)
    {
        if (!_resized)
        {
            return;
        }

        _resized = false;
        if (_smallest < _table.MaxSize)
        {
            WriteInteger(target, _smallest, 5, 0x20);
        }

        WriteInteger(target, _table.MaxSize, 5, 0x20);
    }

    /// <summary>A header that stands in the static table as it is.</summary>
    public static void Static(FrameBuffer target, int index) => target.Append((byte)(0x80 | index));

    /// <summary>A header with a name of the static table and a value of two pieces, not indexed.</summary>
    public static void Literal(FrameBuffer target, int index, string first, string second)
    {
        WriteInteger(target, index, 4, 0);
        WriteInteger(target, first.Length + second.Length, 7, 0);
        Append(target, first);
        Append(target, second);
    }

    /// <inheritdoc cref="Literal(FrameBuffer, int, string, string)"/>
    public static void Literal(FrameBuffer target, int index, int value)
    {
        Span<byte> digits = stackalloc byte[11];
        Utf8Formatter.TryFormat(value, digits, out var length);
        WriteInteger(target, index, 4, 0);
        WriteInteger(target, length, 7, 0);
        target.Append(digits[..length]);
    }

    /// <summary>A header that PNH sends.</summary>
    public void Header(FrameBuffer target, HeaderName name, string value)
    {
        // What others share goes into the table. Credentials too, although Apple would have them literal: it is our own table, one entry of 250 bytes
        // of 4096, and the widespread clients (Pushy's Netty, Go's) index them as well.
        if (name.Change == HeaderChange.EachRequest)
        {
            Header(target, name.Text, value, isShared: false);
        }
        else
        {
            Shared(target, name.Index, name.Text, value);
        }
    }

    public void Authority(FrameBuffer target, string value) => Shared(target, AuthoritySlot, ":authority", value);

    /// <summary>Any header; name (lower case) and value are ASCII.</summary>
    /// <param name="target">Where it goes.</param>
    /// <param name="name">Lower case.</param>
    /// <param name="value">Printable ASCII.</param>
    /// <param name="isShared">
    /// False: the value differs from request to request. Only its name is indexed, when it is first seen, as Apple advises for apns-id and the like.
    /// </param>
    public void Header(FrameBuffer target, string name, string value, bool isShared)
    {
        if (isShared && _table.Find(name, value) is >= 0 and var index)
        {
            WriteInteger(target, HpackStaticTable.Count + 1 + index, 7, 0x80);
            return;
        }

        var named = HpackStaticTable.IndexOf(name);
        if (isShared && HpackStaticTable.IndexOf(named, name, value) is > 0 and var whole)
        {
            Static(target, whole);
            return;
        }

        if (named == 0 && _table.Find(name) is >= 0 and var known)
        {
            named = HpackStaticTable.Count + 1 + known;
        }

        // An entry that fills the table on its own would throw everything else out.
        var insert = (isShared || named == 0) && name.Length + value.Length + HpackTable.EntryOverhead <= _table.MaxSize;
        WriteInteger(target, named, insert ? 6 : 4, insert ? (byte)0x40 : (byte)0);
        if (named == 0)
        {
            WriteText(target, name, _huffman && insert);
        }

        WriteText(target, value, _huffman && insert);
        if (insert)
        {
            Insert(name, value);
        }
    }

    private void Shared(FrameBuffer target, int slot, string name, string value)
    {
        ref var recent = ref _recent[slot];
        if (ReferenceEquals(recent.Value, value) && _table.IndexOf(recent.Insertion) is >= 0 and var index)
        {
            WriteInteger(target, HpackStaticTable.Count + 1 + index, 7, 0x80);
            return;
        }

        var before = _table.Insertions;
        Header(target, name, value, isShared: true);
        if (_table.Insertions != before)
        {
            recent = (value, before);
        }
    }

    private void Insert(string name, string value)
    {
        Encoding.ASCII.GetBytes(name, _scratch);
        Encoding.ASCII.GetBytes(value, _scratch.AsSpan(name.Length));
        _table.Insert(_scratch.AsSpan(0, name.Length), _scratch.AsSpan(name.Length, value.Length));
    }

    private static void WriteText(FrameBuffer target, string text, bool huffman)
    {
        if (huffman && HuffmanCode.EncodedLength(text) is > 0 and var length && length <= text.Length)
        {
            WriteInteger(target, length, 7, 0x80);
            target.Advance(HuffmanCode.Encode(text, target.Free(length)));
            return;
        }

        WriteInteger(target, text.Length, 7, 0);
        Append(target, text);
    }

    private static void Append(FrameBuffer target, string text) =>
        target.Advance(Encoding.ASCII.GetBytes(text, target.Free(text.Length)));

    private static void WriteInteger(FrameBuffer target, int value, int prefix, byte pattern) =>
        target.Advance(HpackInteger.Write(target.Free(HpackInteger.MaxBytes), value, prefix, pattern));
}
