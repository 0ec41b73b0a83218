using System.Text.Json.Nodes;
using System.Text.Json.Serialization;

namespace Pnh.Client.Events;

/// <summary>What a back-end sends. Immutable.</summary>
public sealed record PnhEvent
{
    /// <summary>1 to 64 characters of <c>A–Z a–z 0–9 . _ : ~ @ -</c>. Null = the publisher makes one, so that a repeated attempt is the same event.</summary>
    public string? Id { get; init; }

    /// <summary>Whom it is for.</summary>
    public required PnhTarget To { get; init; }

    /// <summary>How urgent it is and what it promises.</summary>
    public PnhClass Class { get; init; } = PnhClass.Message;

    /// <summary>How long it is of use; zero = now or never. Null = the hub's for its class.</summary>
    [JsonConverter(typeof(SecondsConverter))]
    public TimeSpan? Ttl { get; init; }

    /// <summary>A newer event with the same key replaces this one wherever it still waits: at most 64 bytes in UTF-8. Null = none.</summary>
    public string? CollapseKey { get; init; }

    /// <summary>How urgently providers are asked to bring a push, apart from the class. Null = as the class and what is shown ask for.</summary>
    public PnhPriority? Priority { get; init; }

    /// <summary>How long a socket may take to acknowledge before a push goes out too, an hour at most. Null = the hub's for its class.</summary>
    [JsonIgnore]
    public TimeSpan? AckWithin { get; init; }

    /// <summary>Who gets none of it. Null = everybody gets it.</summary>
    public PnhExcept? Except { get; init; }

    /// <summary>The only channels that may carry it, such as <c>websocket</c>, <c>apns</c>, <c>fcm</c>, <c>webpush</c>. Null = any.</summary>
    public IReadOnlyList<string>? Channels { get; init; }

    /// <summary>Any JSON; handed on as it is. Null = none.</summary>
    public JsonNode? Data { get; init; }

    /// <summary>What a person sees. Null = nothing.</summary>
    public PnhNotification? Notification { get; init; }

    /// <summary>Merged last into the APNs payload. Null = nothing.</summary>
    public JsonObject? Apns { get; init; }

    /// <summary>Merged last into the FCM message. Null = nothing.</summary>
    public JsonObject? Fcm { get; init; }

    /// <summary>Merged last into what a service worker reads. Null = nothing.</summary>
    [JsonPropertyName("webpush")]
    public JsonObject? WebPush { get; init; }

    [JsonInclude]
    internal AckMembers? Ack => AckWithin is { } within ? new(within) : null;

    internal sealed record AckMembers([property: JsonConverter(typeof(SecondsConverter))] TimeSpan? Within);
}

/// <summary>How urgently providers are asked to bring a push.</summary>
[JsonConverter(typeof(JsonStringEnumConverter<PnhPriority>))]
public enum PnhPriority
{
    /// <summary>At once, also to a phone that dozes.</summary>
    [JsonStringEnumMemberName("now")]
    Now,

    /// <summary>When it suits the phone's battery.</summary>
    [JsonStringEnumMemberName("saving")]
    Saving,
}

/// <summary>How far a notification may interrupt.</summary>
[JsonConverter(typeof(JsonStringEnumConverter<PnhInterruption>))]
public enum PnhInterruption
{
    /// <summary>In the list, without sound or light.</summary>
    [JsonStringEnumMemberName("passive")]
    Passive,

    /// <summary>As usual.</summary>
    [JsonStringEnumMemberName("active")]
    Active,

    /// <summary>Also through a focus.</summary>
    [JsonStringEnumMemberName("time-sensitive")]
    TimeSensitive,

    /// <summary>Also through a muted phone: Apple gives apps that right one by one.</summary>
    [JsonStringEnumMemberName("critical")]
    Critical,
}

/// <summary>How urgent an event is and what it promises.</summary>
[JsonConverter(typeof(JsonStringEnumConverter<PnhClass>))]
public enum PnhClass
{
    /// <summary>Durable; on stable storage before the answer.</summary>
    [JsonStringEnumMemberName("message")]
    Message,

    /// <summary>Durable, and the first on every way.</summary>
    [JsonStringEnumMemberName("call")]
    Call,

    /// <summary>Durable, and the last on every way.</summary>
    [JsonStringEnumMemberName("bulk")]
    Bulk,

    /// <summary>To sessions that are open now; promises nothing.</summary>
    [JsonStringEnumMemberName("transient")]
    Transient,
}

/// <summary>Whom an event is for: exactly one of the members. Made by the methods of this type.</summary>
public sealed record PnhTarget
{
    /// <summary>All devices of a user. Null = another kind of target.</summary>
    public string? User { get; init; }

    /// <summary>All devices of up to 1,000 users. Null = another kind of target.</summary>
    public IReadOnlyList<string>? Users { get; init; }

    /// <summary>The members of a topic, and the sessions that joined it. Null = another kind of target.</summary>
    public string? Topic { get; init; }

    /// <summary>One device of a user. Null = another kind of target.</summary>
    public PnhDevice? Device { get; init; }

    /// <summary>All devices of a user.</summary>
    public static PnhTarget OfUser(string user) => new() { User = user };

    /// <summary>All devices of up to 1,000 users.</summary>
    public static PnhTarget OfUsers(params IReadOnlyList<string> users) => new() { Users = users };

    /// <summary>The members of a topic, and the sessions that joined it.</summary>
    public static PnhTarget OfTopic(string topic) => new() { Topic = topic };

    /// <summary>One device of a user.</summary>
    public static PnhTarget OfDevice(string user, string device) => new() { Device = new(user, device) };
}

/// <summary>A device.</summary>
/// <param name="User">Whose.</param>
/// <param name="Device">Its id among the user's.</param>
public sealed record PnhDevice(string User, string Device);

/// <summary>Who gets none of an event; at most 100 of each kind.</summary>
public sealed record PnhExcept
{
    /// <summary>Users. Null = none.</summary>
    public IReadOnlyList<string>? Users { get; init; }

    /// <summary>Ids of devices. Null = none.</summary>
    public IReadOnlyList<string>? Devices { get; init; }

    /// <summary>Ids of sessions. Null = none.</summary>
    public IReadOnlyList<string>? Sessions { get; init; }
}

/// <summary>What a person sees. Null members are left out.</summary>
public sealed record PnhNotification
{
    /// <summary>Title.</summary>
    public string? Title { get; init; }

    /// <summary>Second line, where the platform has one.</summary>
    public string? Subtitle { get; init; }

    /// <summary>Text.</summary>
    public string? Body { get; init; }

    /// <summary>Name of a sound.</summary>
    public string? Sound { get; init; }

    /// <summary>Number on the app's icon.</summary>
    public int? Badge { get; init; }

    /// <summary>Address of an image, https.</summary>
    public Uri? Image { get; init; }

    /// <summary>Category with the app's actions.</summary>
    public string? Category { get; init; }

    /// <summary>Groups notifications.</summary>
    public string? Thread { get; init; }

    /// <summary>Android's notification channel, which the app made.</summary>
    public string? Channel { get; init; }

    /// <summary>How far it may interrupt. Null = as usual.</summary>
    public PnhInterruption? Interruption { get; init; }

    /// <summary>Of <see cref="PnhInterruption.Critical"/>: how loud, from 0 to 1. Null = 1.</summary>
    public double? Volume { get; init; }

    /// <summary>From 0 to 1: which of an app's notifications stands first in a summary of iOS.</summary>
    public double? Relevance { get; init; }

    /// <summary>What opens on a tap: https, or a scheme that the app's setting lists.</summary>
    public string? Link { get; init; }

    /// <summary>A text in the app's own resources in place of the title.</summary>
    public string? TitleKey { get; init; }

    /// <summary>What is put into it.</summary>
    public IReadOnlyList<string>? TitleArgs { get; init; }

    /// <summary>A text in the app's own resources in place of the body.</summary>
    public string? BodyKey { get; init; }

    /// <summary>What is put into it.</summary>
    public IReadOnlyList<string>? BodyArgs { get; init; }

    /// <summary>True = an iOS app's notification service extension may change it, also without a picture.</summary>
    public bool? Mutable { get; init; }

    /// <summary>Title, subtitle and body in other languages, by language tag.</summary>
    public IReadOnlyDictionary<string, PnhTexts>? Locales { get; init; }
}

/// <summary>Texts of a notification in a language. Null members are left out.</summary>
public sealed record PnhTexts
{
    /// <summary>Title.</summary>
    public string? Title { get; init; }

    /// <summary>Second line.</summary>
    public string? Subtitle { get; init; }

    /// <summary>Text.</summary>
    public string? Body { get; init; }
}
