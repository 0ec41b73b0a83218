namespace Pnh.Core.Events;

/// <summary>
/// What was encoded from one event, by shape (<c>websocket</c>, <c>apns/alert/de</c>, …): made once, shared by all deliveries.
/// An event has one to three shapes, so a list beats a dictionary. Thread-safe; a race may encode twice, one result wins.
/// </summary>
public sealed class EncodingCache
{
    private volatile Entry? _first;

    /// <summary>The value made for <paramref name="shape"/>, made now by <paramref name="encode"/> (static, with state) if there is none.</summary>
    public T GetOrAdd<T, TState>(string shape, TState state, Func<TState, T> encode)
        where T : class
    {
        if (Find<T>(shape) is { } known)
        {
            return known;
        }

        var made = encode(state);
        while (true)
        {
            var first = _first;
            if (Find<T>(shape) is { } other)
            {
                return other;
            }

            if (ReferenceEquals(Interlocked.CompareExchange(ref _first, new Entry(shape, made, first), first), first))
            {
                return made;
            }
        }
    }

    /// <summary>The value that was made for <paramref name="shape"/>; null = none was.</summary>
    internal T? Find<T>(string shape)
        where T : class
    {
        for (var entry = _first; entry is not null; entry = entry.Next)
        {
            if (string.Equals(entry.Shape, shape, StringComparison.Ordinal) && entry.Value is T value)
            {
                return value;
            }
        }

        return null;
    }

    private sealed class Entry(string shape, object value, Entry? next)
    {
        internal string Shape { get; } = shape;

        internal object Value { get; } = value;

        internal Entry? Next { get; } = next;
    }
}
