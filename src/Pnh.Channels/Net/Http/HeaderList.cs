using System.Diagnostics.CodeAnalysis;
using System.Runtime.CompilerServices;

namespace Pnh.Channels.Net.Http;

/// <summary>One header of a request. Values are printable ASCII, checked by their maker; shared strings stay the same object, so a connection may remember their encoding.</summary>
internal readonly record struct Header(HeaderName Name, string Value);

/// <summary>The headers of one request in the order of adding, in place: no list, no dictionary. Not thread-safe.</summary>
internal struct HeaderList
{
    /// <summary>APNs needs the most: seven and the content type.</summary>
    public const int Capacity = 8;

    private Slots _slots;
    private int _count;

    public readonly int Count => _count;

    /// <summary>Adds one; throws past <see cref="Capacity"/>.</summary>
    public void Add(HeaderName name, string value)
    {
        ArgumentOutOfRangeException.ThrowIfGreaterThanOrEqual(_count, Capacity);
        _slots[_count++] = new Header(name, value);
    }

    /// <summary>The value; null = there is no such header.</summary>
    public readonly string? Find(HeaderName name)
    {
        foreach (var header in AsSpan())
        {
            if (ReferenceEquals(header.Name, name))
            {
                return header.Value;
            }
        }

        return null;
    }

    /// <summary>The same list with another value for one that it has.</summary>
    public readonly HeaderList With(HeaderName name, string value)
    {
        var other = this;
        for (var i = 0; i < _count; i++)
        {
            if (ReferenceEquals(_slots[i].Name, name))
            {
                other._slots[i] = new Header(name, value);
            }
        }

        return other;
    }

    /// <summary>The headers; valid as long as the list is.</summary>
    [UnscopedRef]
    public readonly ReadOnlySpan<Header> AsSpan() => ((ReadOnlySpan<Header>)_slots)[.._count];

    [InlineArray(Capacity)]
    private struct Slots
    {
        private Header _first;
    }
}
