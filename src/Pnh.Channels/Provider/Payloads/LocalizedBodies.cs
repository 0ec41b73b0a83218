using Pnh.Core.Events;

namespace Pnh.Channels.Provider.Payloads;

/// <summary>
/// The bodies of one event and shape by language. A cache inside the event's cache, so that no key is built per delivery.
/// <typeparamref name="T"/> is made once per language. Thread-safe.
/// </summary>
internal sealed class LocalizedBodies<T>
    where T : class
{
    private readonly EncodingCache _byLocale = new();

    /// <summary>The body for a device's locale.</summary>
    public T For(Event accepted, string? locale, Func<(Event Event, string? Locale), T> encode)
    {
        var key = accepted.Notification?.MatchLocale(locale);
        return _byLocale.GetOrAdd(key ?? "", (accepted, key), encode);
    }
}
