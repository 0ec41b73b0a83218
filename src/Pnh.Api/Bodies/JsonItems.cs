using System.Buffers;
using System.Text.Json;
using Pnh.Core.Events;

namespace Pnh.Api.Bodies;

/// <summary>What the next piece of a streamed body is.</summary>
internal enum ItemKind
{
    /// <summary>Not all of it has arrived.</summary>
    NeedMore,

    /// <summary>One JSON value.</summary>
    Item,

    /// <summary>Longer than <see cref="Limits.EventBytes"/>: passed over.</summary>
    TooLong,

    /// <summary>The stream itself is broken; nothing after it can be read.</summary>
    Malformed,

    /// <summary>The end.</summary>
    End,
}

/// <summary>Cuts a body into JSON values, holding no more than one of them. Not thread-safe.</summary>
internal abstract class JsonItems
{
    /// <summary>Takes the next item off the front of <paramref name="buffer"/>; what is left begins after it.</summary>
    internal abstract ItemKind Next(ref ReadOnlySequence<byte> buffer, bool isCompleted, out ReadOnlySequence<byte> item);

    /// <summary>What follows the whitespace of JSON (RFC 8259 section 2).</summary>
    internal static ReadOnlySequence<byte> SkipBlanks(ReadOnlySequence<byte> buffer)
    {
        while (!buffer.IsEmpty)
        {
            var span = buffer.FirstSpan;
            var blanks = span.IndexOfAnyExcept(" \t\r\n"u8);
            if (blanks >= 0)
            {
                return buffer.Slice(blanks);
            }

            buffer = buffer.Slice(span.Length);
        }

        return buffer;
    }
}

/// <summary>One value a line (NDJSON); empty lines are passed over.</summary>
internal sealed class JsonLines : JsonItems
{
    private static readonly byte[] Mark = [0xEF, 0xBB, 0xBF];
    private bool _passingOver;
    private bool _hasBegun;

    internal override ItemKind Next(ref ReadOnlySequence<byte> buffer, bool isCompleted, out ReadOnlySequence<byte> item)
    {
        if (!_hasBegun && (buffer.Length >= Mark.Length || isCompleted))
        {
            // Programs of Windows write it before UTF-8 (RFC 8259 section 8.1: who reads may pass over it).
            _hasBegun = true;
            buffer = buffer.Length >= Mark.Length && buffer.Slice(0, Mark.Length).ToArray().AsSpan().SequenceEqual(Mark) ? buffer.Slice(Mark.Length) : buffer;
        }

        while (true)
        {
            item = default;
            if (buffer.PositionOf((byte)'\n') is { } end)
            {
                item = buffer.Slice(0, end);
                buffer = buffer.Slice(buffer.GetPosition(1, end));
            }
            else if (buffer.Length > Limits.EventBytes)
            {
                buffer = buffer.Slice(buffer.End);
                var first = !_passingOver;
                _passingOver = true;
                return first ? ItemKind.TooLong : ItemKind.NeedMore;
            }
            else if (isCompleted)
            {
                item = buffer;
                buffer = buffer.Slice(buffer.End);
                return _passingOver || IsBlank(item) ? ItemKind.End : ItemKind.Item;
            }
            else
            {
                return ItemKind.NeedMore;
            }

            if (_passingOver)
            {
                _passingOver = false;
            }
            else if (item.Length > Limits.EventBytes)
            {
                return ItemKind.TooLong;
            }
            else if (!IsBlank(item))
            {
                return ItemKind.Item;
            }
        }
    }

    private static bool IsBlank(in ReadOnlySequence<byte> line)
    {
        foreach (var piece in line)
        {
            if (piece.Span.ContainsAnyExcept(" \t\r"u8))
            {
                return false;
            }
        }

        return true;
    }
}

/// <summary>The elements of one array.</summary>
internal sealed class JsonElements : JsonItems
{
    private enum Place
    {
        BeforeArray,
        BeforeFirst,
        BeforeElement,
        AfterElement,
        AfterArray,
    }

    private Place _place;

    internal override ItemKind Next(ref ReadOnlySequence<byte> buffer, bool isCompleted, out ReadOnlySequence<byte> item)
    {
        item = default;
        while (true)
        {
            buffer = SkipBlanks(buffer);
            if (buffer.IsEmpty)
            {
                return !isCompleted ? ItemKind.NeedMore : _place == Place.AfterArray ? ItemKind.End : ItemKind.Malformed;
            }

            var next = buffer.FirstSpan[0];
            switch (_place, next)
            {
                case (Place.BeforeArray, (byte)'['):
                    _place = Place.BeforeFirst;
                    break;
                case (Place.BeforeFirst or Place.AfterElement, (byte)']'):
                    _place = Place.AfterArray;
                    break;
                case (Place.AfterElement, (byte)','):
                    _place = Place.BeforeElement;
                    break;
                case (Place.BeforeFirst or Place.BeforeElement, _):
                    return Element(ref buffer, isCompleted, out item);
                default:
                    return ItemKind.Malformed;
            }

            buffer = buffer.Slice(1);
        }
    }

    private ItemKind Element(ref ReadOnlySequence<byte> buffer, bool isCompleted, out ReadOnlySequence<byte> item)
    {
        item = default;
        try
        {
            var reader = new Utf8JsonReader(buffer, isFinalBlock: false, new JsonReaderState(new JsonReaderOptions { MaxDepth = Limits.JsonDepth }));
            if (!reader.Read() || !reader.TrySkip())
            {
                // Longer than any event: the array cannot be cut any more, so it ends here.
                return buffer.Length > Limits.EventBytes || isCompleted ? ItemKind.Malformed : ItemKind.NeedMore;
            }

            item = buffer.Slice(0, reader.BytesConsumed);
            buffer = buffer.Slice(reader.BytesConsumed);
            _place = Place.AfterElement;
            return item.Length > Limits.EventBytes ? ItemKind.TooLong : ItemKind.Item;
        }
        catch (JsonException)
        {
            return ItemKind.Malformed;
        }
    }
}
