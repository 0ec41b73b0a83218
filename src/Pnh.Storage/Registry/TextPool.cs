using System.Collections.Concurrent;

namespace Pnh.Storage.Registry;

/// <summary>
/// One string object for texts that many rows share (scopes, locales, versions). Bounded: past 10,000 texts (someone stores
/// unique ones) new ones are left as they are. Thread-safe.
/// </summary>
internal sealed class TextPool
{
    private const int Most = 10_000;

    private readonly ConcurrentDictionary<string, string> _texts = new(StringComparer.Ordinal);
    private int _count;

    /// <summary>The shared object equal to <paramref name="text"/>; null stays null.</summary>
    [return: System.Diagnostics.CodeAnalysis.NotNullIfNotNull(nameof(text))]
    public string? Share(string? text)
    {
        if (text is null)
        {
            return null;
        }

        if (_texts.TryGetValue(text, out var known))
        {
            return known;
        }

        if (Volatile.Read(ref _count) >= Most)
        {
            return text;
        }

        known = _texts.GetOrAdd(text, text);
        if (ReferenceEquals(known, text))
        {
            Interlocked.Increment(ref _count);
        }

        return known;
    }
}
