using System.IO.Pipelines;
using Pnh.Api.Access;
using Pnh.Api.Bodies;
using Pnh.Api.Configuration;
using Pnh.Api.Endpoints;
using Pnh.Api.Ingest;
using Pnh.Api.Operations;
using Pnh.Api.Problems;
using Pnh.Channels.WebSockets.Server;
using Pnh.Channels.WebSockets.Sessions;
using Pnh.Core.Diagnostics;
using Pnh.Core.Events;
using Pnh.Core.Hubs;
using Pnh.Core.Stores;
using Pnh.Core.Users;

namespace Pnh.Api.WebConsole;

/// <summary>The console's view of the running hub. It acts for one app, the first by name: on a first start that is the demo, the only one.</summary>
internal sealed class HubConsole : IConsoleSource
{
    private const int FewSessions = 1_000;
    private static readonly TimeSpan ListedFor = TimeSpan.FromSeconds(5);
    private static readonly TimeSpan TabTokenLife = TimeSpan.FromHours(12);
    private readonly ConsoleTarget _target;
    private readonly Hub _hub;
    private readonly IDeviceStore _devices;
    private readonly EventIntake _intake;
    private readonly HubMetrics _metrics;
    private readonly WebSocketServer _sockets;
    private readonly ClientTokens _tokens;
    private readonly TimelineEndpoint _timeline;
    private readonly UserPage _users;
    private readonly Troubles _troubles;
    private readonly Func<ClusterBody>? _cluster;
    private readonly TimeProvider _time;
    private readonly DateTimeOffset _startedAt;
    private volatile Listed? _listed;

    public HubConsole(
        ConsoleTarget target, Hub hub, IDeviceStore devices, EventIntake intake, HubMetrics metrics, WebSocketServer sockets,
        ClientTokens tokens, TimelineEndpoint timeline, UserPage users, Troubles troubles, Func<ClusterBody>? cluster, TimeProvider time)
    {
        _target = target;
        _hub = hub;
        _devices = devices;
        _intake = intake;
        _metrics = metrics;
        _sockets = sockets;
        _tokens = tokens;
        _timeline = timeline;
        _users = users;
        _troubles = troubles;
        _cluster = cluster;
        _time = time;
        _startedAt = time.GetUtcNow();
    }

    /// <summary>The public listener as a browser on this machine reaches it; set when the port is known. Null also where it takes no sockets.</summary>
    public Uri? PublicAddress { get; set; }

    public ConsoleSnapshot Snapshot()
    {
        var totals = _metrics.Snapshot();
        var count = (int)(totals.ActiveSessions + totals.BackgroundSessions);
        return new ConsoleSnapshot(
            ProgramVersion.Text,
            _startedAt,
            _target.App,
            totals,
            count,
            Newest(count),
            _target.Sandbox is { } sandbox ? PhoneShelf.Arrange(sandbox.Phones.All) : null,
            _target.Apps,
            _troubles.Read(totals),
            _hub.Acceptor.MemoryShortage,
            _cluster?.Invoke().Nodes);
    }

    public async ValueTask<ConsoleAnswer> SendAsync(ReadOnlyMemory<byte> body, CancellationToken cancellationToken)
    {
        if (Read(body, out var problem) is not { } accepted)
        {
            return Answer(problem!);
        }

        var result = await _hub.Acceptor.AcceptAsync(accepted);
        return EventAnswers.Refusal(result) is { } refusal ? Answer(refusal) : Answer(StatusCodes.Status202Accepted, EventAnswers.Receipt(accepted, result));
    }

    public async ValueTask<ConsoleAnswer> ExplainAsync(ReadOnlyMemory<byte> body, CancellationToken cancellationToken)
    {
        if (Read(body, out var problem) is not { } accepted)
        {
            return Answer(problem!);
        }

        using var answer = new MemoryStream();
        var plan = await _hub.Explainer.ExplainAsync(accepted, after: "", cancellationToken);
        await PlanWriter.WriteAsync(PipeWriter.Create(answer, new StreamPipeWriterOptions(leaveOpen: true)), accepted, plan, cancellationToken);
        return Answer(StatusCodes.Status200OK, answer.ToArray());
    }

    public Task WriteTimelineAsync(HttpContext context, string? app, string id) =>
        AppOf(app) is { } known ? _timeline.WriteAsync(context, known, id, user: null) : PathEvent.Unknown.ExecuteAsync(context);

    public Task WriteUserAsync(HttpContext context, string? app, string user)
    {
        if (AppOf(app) is not { } known)
        {
            return NoApp().ExecuteAsync(context);
        }

        return _users.WriteAsync(context, new UserKey(known, user), ConsoleEndpoints.Query(context, "device"), ConsoleEndpoints.Query(context, "before"));
    }

    // Only of the demo that this hub made itself: a configured app may bear its name too, and its user is nobody to act for.
    public Uri? Socket => _target.DemoUser is not null && PublicAddress is { } address
        ? new UriBuilder(address) { Scheme = address.Scheme == Uri.UriSchemeHttps ? "wss" : "ws", Path = "/v1/socket" }.Uri
        : null;

    public ValueTask<TabToken?> CreateTabTokenAsync(CancellationToken cancellationToken)
    {
        if (_target is not { App: { } app, DemoUser: { } user } || Socket is not { } socket)
        {
            return ValueTask.FromResult<TabToken?>(null);
        }

        var token = _tokens.Create(app, user, device: null, TabTokenLife);
        return ValueTask.FromResult<TabToken?>(new TabToken(token, user, null, socket.ToString()));
    }

    public Task WriteNewestAsync(HttpContext context, string? app) =>
        AppOf(app) is { } known ? _users.WriteNewestAsync(context, known) : NoApp().ExecuteAsync(context);

    public Task WriteFailuresAsync(HttpContext context, string? app, string? channel) =>
        AppOf(app) is { } known ? _users.WriteFailuresAsync(context, known, channel) : NoApp().ExecuteAsync(context);

    private static Problem NoApp() => new(ProblemCatalogue.NoSuchItem, "There is no such app.");

    // All sessions are looked at for the newest: where they are many, not for each snapshot.
    private IReadOnlyList<ConsoleSession> Newest(int count)
    {
        if (_listed is not { } listed || count <= FewSessions || _time.GetElapsedTime(listed.At) >= ListedFor)
        {
            _listed = listed = new Listed(_time.GetTimestamp(), [.. _sockets.Newest(ConsoleSnapshot.MaxSessions).Select(Row)]);
        }

        return listed.Sessions;
    }

    private string? AppOf(string? asked) => asked is null ? _target.App : _target.Apps.Contains(asked) ? asked : null;

    private Event? Read(ReadOnlyMemory<byte> body, out Problem? problem)
    {
        if (_target.App is not { } app)
        {
            problem = new Problem(ProblemCatalogue.NoSuchItem, "No app is configured.");
            return null;
        }

        return _intake.Read(app, body.ToArray(), traceParent: null, out problem);
    }

    private static ConsoleAnswer Answer(Problem problem) => new(problem.Kind.Status, Problem.MediaType, problem.ToJson());

    private static ConsoleAnswer Answer(int status, ReadOnlyMemory<byte> json) => new(status, RequestBody.Json, json);

    private ConsoleSession Row(SessionSnapshot session) => new(
        session.Key.App, session.Key.User, session.Key.Device, session.Key.Session, PlatformOf(session), session.State, session.Since);

    // Only what the cache has: a snapshot must not wait for the disk. An unregistered device is a browser.
    private Platform PlatformOf(SessionSnapshot session)
    {
        var user = _devices.GetUserAsync(new UserKey(session.Key.App, session.Key.User), CancellationToken.None);
#pragma warning disable VSTHRD002 // completed already, so nothing waits
        return user.IsCompletedSuccessfully
            ? user.Result.Find(session.Key.Device)?.Platform ?? Platform.Web
            : Platform.Web;
#pragma warning restore VSTHRD002
    }

    private sealed record Listed(long At, IReadOnlyList<ConsoleSession> Sessions);
}
