namespace Pnh.Core.Events;

/// <summary>The provider-neutral notification: what a person sees. Every member but the texts' presence is optional; null = not set.</summary>
public sealed record Notification
{
    /// <summary>Headline.</summary>
    public string? Title { get; init; }

    /// <summary>Text.</summary>
    public string? Body { get; init; }

    /// <summary>Second line (APNs <c>subtitle</c>; not on Android).</summary>
    public string? Subtitle { get; init; }

    /// <summary>Sound name, <c>default</c> for the system's.</summary>
    public string? Sound { get; init; }

    /// <summary>Icon badge; 0 clears it.</summary>
    public int? Badge { get; init; }

    /// <summary>https address of a picture.</summary>
    public string? Image { get; init; }

    /// <summary>Action category (APNs <c>category</c>; on Android <c>pnh-category</c> of the data, for the app).</summary>
    public string? Category { get; init; }

    /// <summary>Groups notifications on the screen (APNs <c>thread-id</c>, Android channel stays the app's).</summary>
    public string? Thread { get; init; }

    /// <summary>How it is shown and what it opens; null = nothing of it was given. Of its own, since most notifications have none and each is copied while it is read.</summary>
    public NotificationManner? Manner { get; init; }

    private NotificationManner Given => Manner ?? new NotificationManner();

    /// <summary>Android's notification channel, which the app made; null = the app's default one. A channel decides its sound since Android 8.</summary>
    public string? Channel
    {
        get => Manner?.Channel;
        init => Manner = Given with { Channel = value };
    }

    /// <summary>How far it may interrupt; null = as usual.</summary>
    public Interruption? Interruption
    {
        get => Manner?.Interruption;
        init => Manner = Given with { Interruption = value };
    }

    /// <summary>Of a critical one: how loud, from 0 to 1; null = 1.</summary>
    public double? Volume
    {
        get => Manner?.Volume;
        init => Manner = Given with { Volume = value };
    }

    /// <summary>From 0 to 1: which of an app's notifications stands first in a summary (APNs <c>relevance-score</c>); null = not said.</summary>
    public double? Relevance
    {
        get => Manner?.Relevance;
        init => Manner = Given with { Relevance = value };
    }

    /// <summary>An iOS app's notification service extension may change it, also without a picture.</summary>
    public bool IsMutable
    {
        get => Manner?.IsMutable ?? false;
        init => Manner = Given with { IsMutable = value };
    }

    /// <summary>What opens on a tap: an https address, or one of a scheme that the app's setting lists; null = the app.</summary>
    public string? Link
    {
        get => Manner?.Link;
        init => Manner = Given with { Link = value };
    }

    /// <summary>Name of a text in the app's own resources that stands for the title; null = none.</summary>
    public string? TitleKey
    {
        get => Manner?.TitleKey;
        init => Manner = Given with { TitleKey = value };
    }

    /// <summary>What is put into that text.</summary>
    public IReadOnlyList<string> TitleArgs
    {
        get => Manner?.TitleArgs ?? [];
        init => Manner = Given with { TitleArgs = value };
    }

    /// <summary>Name of a text in the app's own resources that stands for the body; null = none.</summary>
    public string? BodyKey
    {
        get => Manner?.BodyKey;
        init => Manner = Given with { BodyKey = value };
    }

    /// <summary>What is put into that text.</summary>
    public IReadOnlyList<string> BodyArgs
    {
        get => Manner?.BodyArgs ?? [];
        init => Manner = Given with { BodyArgs = value };
    }

    /// <summary>Texts per locale (BCP 47, e.g. <c>de</c>, <c>pt-BR</c>) replacing title, subtitle and body; null = one language.</summary>
    public IReadOnlyDictionary<string, LocalizedText>? Locales { get; init; }

    /// <summary>A person sees or hears it: a text, a picture, a sound. A badge alone changes a number on an icon.</summary>
    public bool IsNoticed => (Title ?? Subtitle ?? Body ?? Image ?? Sound ?? TitleKey ?? BodyKey) is not null;

    /// <summary>The notification in the device's language: the nearest text of its language and script (<see cref="LanguageTag"/>), else as sent.</summary>
    public Notification For(string? locale)
    {
        var text = MatchLocale(locale) is { } key ? Locales![key] : null;
        return text is null ? this : this with
        {
            Title = text.Title ?? Title,
            Subtitle = text.Subtitle ?? Subtitle,
            Body = text.Body ?? Body,
        };
    }

    /// <summary>The key of <see cref="Locales"/> that serves <paramref name="locale"/>; null = the default texts. Use it as cache key.</summary>
    public string? MatchLocale(string? locale)
    {
        if (Locales is null || string.IsNullOrEmpty(locale))
        {
            return null;
        }

        if (Locales.ContainsKey(locale))
        {
            return locale;
        }

        return LanguageTag.FindNearest(Locales.Keys, locale);
    }
}

/// <summary>Texts in one language; null = the default's.</summary>
public sealed record LocalizedText(string? Title, string? Subtitle, string? Body);

/// <summary>How a notification is shown and what it opens. See the members of the same name of <see cref="Notification"/>.</summary>
public sealed record NotificationManner
{
    internal string? Channel { get; init; }

    internal Interruption? Interruption { get; init; }

    internal double? Volume { get; init; }

    internal double? Relevance { get; init; }

    internal bool IsMutable { get; init; }

    internal string? Link { get; init; }

    internal string? TitleKey { get; init; }

    internal IReadOnlyList<string> TitleArgs { get; init; } = [];

    internal string? BodyKey { get; init; }

    internal IReadOnlyList<string> BodyArgs { get; init; } = [];
}
