using Pnh.Core.Events;

namespace Pnh.Channels.Provider.Payloads;

/// <summary>
/// What goes out instead of a payload that is larger than the provider takes: first without <c>data</c>, then the texts alone, cut to fit. It carries the event's id
/// and <c>"pnh-fetch":true</c>: the app reads the whole event from its inbox or with its next session. Pure functions.
/// </summary>
internal static class FetchPush
{
    /// <summary>The member that says it.</summary>
    public const string Member = "pnh-fetch";

    /// <summary>The reason of an accepted one, for timeline and feed.</summary>
    public const string Reason = "wake-up:payload-too-large";

    private const string Ellipsis = "\u2026";

    private static readonly (Func<Notification, string?> Get, Func<Notification, string, Notification> With)[] Texts =
    [
        (static texts => texts.Body, static (texts, text) => texts with { Body = text }),
        (static texts => texts.Subtitle, static (texts, text) => texts with { Subtitle = text }),
        (static texts => texts.Title, static (texts, text) => texts with { Title = text }),
    ];

    /// <summary>
    /// What <paramref name="encode"/> makes of the notification (null = what does not fit), with as much of its texts as fits: the body is cut first, the
    /// title last. Null when nothing fits. Its picture is left out.
    /// </summary>
    public static T? Fit<T>(Notification? notification, Func<Notification?, T?> encode)
        where T : class
    {
        if (notification is null)
        {
            return encode(null);
        }

        var texts = notification with { Image = null };
        if (encode(texts) is { } whole)
        {
            return whole;
        }

        foreach (var (get, with) in Texts)
        {
            if (get(texts) is not { } text)
            {
                continue;
            }

            if (Longest(text, cut => encode(with(texts, cut))) is { } fits)
            {
                return fits;
            }

            texts = with(texts, Ellipsis);
        }

        return null;
    }

    /// <summary>By halves: what a character takes depends on how it is escaped.</summary>
    private static T? Longest<T>(string text, Func<string, T?> encode)
        where T : class
    {
        T? best = null;
        for (var (least, most) = (0, text.Length - 1); least <= most;)
        {
            var middle = (least + most) / 2;
            var end = middle > 0 && char.IsHighSurrogate(text[middle - 1]) ? middle - 1 : middle;
            if (encode(string.Concat(text.AsSpan(0, end), Ellipsis)) is { } fits)
            {
                best = fits;
                least = middle + 1;
            }
            else
            {
                most = middle - 1;
            }
        }

        return best;
    }
}
