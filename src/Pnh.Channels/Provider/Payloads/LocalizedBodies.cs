using System.Collections.Concurrent;
using Pnh.Core.Events;

namespace Pnh.Channels.Provider.Payloads;

/// <summary>
/// The bodies of one event and shape by language. A cache inside the event's cache, so that no key is built per delivery.
/// <typeparamref name="T"/> is made once per language. Thread-safe.
/// </summary>
internal sealed class LocalizedBodies<T>
    where T : class
{
    // Devices' locales are as many as clients write; those of a market are a few dozen.
    private const int MostMatches = 256;

    private readonly EncodingCache _byLocale = new();
    private readonly ConcurrentDictionary<string, string> _matches = new(StringComparer.Ordinal);

    /// <summary>The body for a device's locale.</summary>
    public T For(Event accepted, string? locale, Func<(Event Event, string? Locale), T> encode)
    {
        var key = accepted.Notification is { Locales: not null } notification && locale is not null ? Match(notification, locale) : "";
        return _byLocale.GetOrAdd(key, (accepted, key.Length == 0 ? null : key), encode);
    }

    private string Match(Notification notification, string locale)
    {
        if (_matches.TryGetValue(locale, out var known))
        {
            return known;
        }

        var key = notification.MatchLocale(locale) ?? "";
        if (_matches.Count < MostMatches)
        {
            _matches.TryAdd(locale, key);
        }

        return key;
    }
}
