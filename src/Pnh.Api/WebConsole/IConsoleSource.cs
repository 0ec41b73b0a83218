using Pnh.Api.Operations;
using Pnh.Core.Diagnostics;
using Pnh.Core.Sessions;
using Pnh.Core.Users;

namespace Pnh.Api.WebConsole;

/// <summary>What the console needs of the hub. Thread-safe.</summary>
internal interface IConsoleSource
{
    /// <summary>The hub at this moment; called once a second while somebody watches, so it must be quick and must not wait.</summary>
    ConsoleSnapshot Snapshot();

    /// <summary>Sends an event as a publisher of the console's app would: <paramref name="body"/> is the body of <c>POST /v1/events</c>, unchecked.</summary>
    ValueTask<ConsoleAnswer> SendAsync(ReadOnlyMemory<byte> body, CancellationToken cancellationToken);

    /// <summary>The plan of the same body without sending it: <c>POST /v1/events:explain</c>.</summary>
    ValueTask<ConsoleAnswer> ExplainAsync(ReadOnlyMemory<byte> body, CancellationToken cancellationToken);

    /// <summary>Answers with the timeline of an event: <c>GET /v1/events/{id}</c>. <paramref name="app"/> null = of the console's app.</summary>
    Task WriteTimelineAsync(HttpContext context, string? app, string id);

    /// <summary>Answers with all that is known of a user. <paramref name="app"/> null = of the console's app.</summary>
    Task WriteUserAsync(HttpContext context, string? app, string user);

    /// <summary>Answers with the newest events. <paramref name="app"/> null = of the console's app.</summary>
    Task WriteNewestAsync(HttpContext context, string? app);

    /// <summary>Answers with the newest events that did not arrive, of that channel; null = of any. <paramref name="app"/> null = of the console's app.</summary>
    Task WriteFailuresAsync(HttpContext context, string? app, string? channel);

    /// <summary>Absolute <c>ws</c> or <c>wss</c> address of the public listener's <c>/v1/socket</c>; null = no tab speaks to it.</summary>
    Uri? Socket { get; }

    /// <summary>A client token for the tab that shows the page; null when there is no user for it (no demo app).</summary>
    ValueTask<TabToken?> CreateTabTokenAsync(CancellationToken cancellationToken);
}

/// <summary>What the public API would have answered.</summary>
/// <param name="Status">HTTP status.</param>
/// <param name="ContentType"><c>application/json</c> or <c>application/problem+json</c>.</param>
/// <param name="Body">JSON in UTF-8.</param>
internal readonly record struct ConsoleAnswer(int Status, string ContentType, ReadOnlyMemory<byte> Body);

/// <summary>How the tab opens its socket.</summary>
/// <param name="Token">Client token; lives long enough for one hello.</param>
/// <param name="User">Whom it speaks for: the user to send to.</param>
/// <param name="Device">The only device it may use; null = the tab chooses its own id, so that two tabs do not replace each other.</param>
/// <param name="SocketUrl">Absolute <c>ws</c> or <c>wss</c> address of the public listener's <c>/v1/socket</c>.</param>
internal sealed record TabToken(string Token, string User, string? Device, string SocketUrl);

/// <summary>What the page shows.</summary>
/// <param name="Version">Of the hub.</param>
/// <param name="StartedAt">When the hub started.</param>
/// <param name="App">The app that the form acts for; null = none is configured.</param>
/// <param name="Totals">Counters; the page makes rates of them.</param>
/// <param name="SessionCount">All live sessions.</param>
/// <param name="Sessions">The newest of them; at most <see cref="MaxSessions"/> are sent to the page.</param>
/// <param name="Phones">The sandbox's phones; null when no sandbox runs here.</param>
/// <param name="Apps">All apps, by name.</param>
/// <param name="Troubles">What an operator has to look at now, a line each.</param>
/// <param name="Memory">Whose events are refused for want of memory, in one line; null = nobody's.</param>
/// <param name="Nodes">The hub and its edges; null = the hub takes no links.</param>
internal sealed record ConsoleSnapshot(
    string Version,
    DateTimeOffset StartedAt,
    string? App,
    HubTotals Totals,
    int SessionCount,
    IReadOnlyList<ConsoleSession> Sessions,
    IReadOnlyList<ConsolePhone>? Phones,
    IReadOnlyList<string> Apps,
    IReadOnlyList<string> Troubles,
    string? Memory = null,
    IReadOnlyList<NodeBody>? Nodes = null)
{
    /// <summary>Rows that a person still reads; a snapshot stays below 100 kB.</summary>
    public const int MaxSessions = 100;

    /// <summary>Phones drawn.</summary>
    public const int MaxPhones = 12;
}

/// <summary>One live session.</summary>
internal sealed record ConsoleSession(string App, string User, string Device, string Session, Platform Platform, SessionState State, DateTimeOffset Since);

/// <summary>One fake phone. The push address stays on the server.</summary>
/// <param name="Key">Unique among the phones, the same in every snapshot.</param>
/// <param name="Name">Its caption.</param>
/// <param name="Platform">Ios, Android or Web.</param>
/// <param name="Received">Pushes since the start, shown or not.</param>
/// <param name="LockScreen">Newest first; the page shows what fits.</param>
internal sealed record ConsolePhone(string Key, string Name, Platform Platform, long Received, IReadOnlyList<LockScreenItem> LockScreen);

/// <summary>One notification on a lock screen.</summary>
/// <param name="Id">Event id; null = the push carried none.</param>
/// <param name="Title">Empty when the push had none.</param>
/// <param name="Body">Empty when the push had none.</param>
/// <param name="PushType">As the provider calls it: <c>alert</c>, <c>voip</c>, <c>notification</c>.</param>
/// <param name="Priority">As the provider calls it: <c>10</c>, <c>HIGH</c>.</param>
/// <param name="At">When it arrived.</param>
internal sealed record LockScreenItem(string? Id, string Title, string Body, string PushType, string Priority, DateTimeOffset At);
