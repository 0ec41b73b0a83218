using System.Net.WebSockets;
using Microsoft.Extensions.Logging;
using Pnh.Channels.Links.Protocol;
using Pnh.Core.Timing;

namespace Pnh.Channels.Links;

/// <summary>
/// One of an edge's links to its hub: dialled until it holds, and dialled again when it broke. A hub that comes back is found within a tenth of a second. Thread-safe.
/// </summary>
internal sealed partial class LinkDialler : IAsyncDisposable
{
    private static readonly TimeSpan FirstWait = TimeSpan.FromMilliseconds(50);
    private static readonly TimeSpan LongestWait = TimeSpan.FromMilliseconds(500);
    private readonly IReadOnlyList<Uri> _hubs;
    private readonly LinkHello _self;
    private readonly EdgeSessions _sessions;
    private readonly TimeSpan _wait;
    private readonly TimeProvider _time;
    private readonly ILogger<LinkDialler> _log;
    private readonly LinkDial _dial;
    private readonly CancellationTokenSource _stopping = new();
    private Task _running = Task.CompletedTask;
    private readonly EdgeLink _link;
    private readonly Func<NodeStatus>? _status;
    private LinkQueue? _output;
    private Uri _hub = null!; // that is dialled
    private bool _isStopped;

    /// <param name="hubs">Addresses of the hub, with the path of its links; each is tried in turn.</param>
    /// <param name="key">The cluster's.</param>
    /// <param name="self">What this edge says of itself.</param>
    /// <param name="sessions">Of the edge.</param>
    /// <param name="wait">How long sessions wait for a hub.</param>
    /// <param name="time">Clock.</param>
    /// <param name="log">Log.</param>
    /// <param name="status">What this node holds and takes, which the hub hears each second; null = another of its links says it.</param>
    public LinkDialler(
        IReadOnlyList<Uri> hubs, string key, LinkHello self, EdgeSessions sessions, TimeSpan wait, TimeProvider time, ILogger<LinkDialler> log, Func<NodeStatus>? status = null)
    {
        _status = status;
        _hubs = hubs;
        _self = self;
        _sessions = sessions;
        _link = sessions.Links[self.Place];
        _wait = wait;
        _time = time;
        _log = log;
        _dial = new LinkDial(key);
    }

    /// <summary>Begins to dial.</summary>
    public void Start() => _running = Task.Run(RunAsync);

    /// <summary>Says goodbye once what was said has left, and dials no more.</summary>
    public async Task StopAsync()
    {
        await _stopping.CancelAsync();
        Volatile.Read(ref _output)?.Complete();
        await _running;
    }

    /// <summary>Stops it.</summary>
    public async ValueTask DisposeAsync()
    {
        if (_isStopped)
        {
            return;
        }

        _isStopped = true;
        await StopAsync();
        _dial.Dispose();
        _stopping.Dispose();
    }

    private async Task RunAsync()
    {
        var wait = FirstWait;
        for (var dials = 0; !_stopping.IsCancellationRequested; dials++)
        {
            _hub = _hubs[dials % _hubs.Count];
            if (await TryLinkAsync())
            {
                wait = FirstWait;
            }
            else if (_link.BrokenSince is { } since and > 0 && _time.GetElapsedTime(since) > _wait)
            {
                _link.GiveUp();
            }

            try
            {
                await Task.Delay(wait, _time, _stopping.Token);
            }
            catch (OperationCanceledException)
            {
                return;
            }

            wait = wait * 2 < LongestWait ? wait * 2 : LongestWait;
        }
    }

    /// <summary>Dials once, and carries the link until it ends. True when the hub greeted.</summary>
    private async Task<bool> TryLinkAsync()
    {
        var (socket, fault) = await _dial.TryAsync(_hub, _stopping.Token);
        using (socket)
        {
            if (socket is not null)
            {
                return await CarryAsync(socket);
            }

            Say(fault!);
            return false;
        }
    }

    private async Task<bool> CarryAsync(ClientWebSocket socket)
    {
        var output = new LinkQueue();
        using var carrier = new LinkSocket(socket, output, _time) { UntilRoomAsync = _link.UntilRoomAsync };
        IDisposable? saying = null;
        (_self with { Cluster = _sessions.Cluster }).Write(output);
        Volatile.Write(ref _output, output);
        if (_stopping.IsCancellationRequested)
        {
            output.Complete();
        }

        var isGreeted = false;
        var why = await carrier.RunAsync((kind, members) =>
        {
            if (isGreeted)
            {
                _link.Receive(kind, members);
            }
            else
            {
                Greet(output, kind, members);
                isGreeted = true;
                if (_status is not null)
                {
                    _status().Write(output);
                    saying = SecondHand.Each(_time, () => _status().Write(output));
                }
            }
        });
        saying?.Dispose();
        if (await _link.SettleAsync() is { } bug)
        {
            why = LinkSocket.Failed(bug);
        }

        if (isGreeted)
        {
            _link.Disconnect();
        }

        if (!_stopping.IsCancellationRequested)
        {
            Say(why);
        }

        return isGreeted;
    }

    private void Greet(LinkQueue output, LinkItemKind kind, ReadOnlyMemory<byte> members)
    {
        var hub = ReadAnswer(kind, members);
        if (!_self.Understands(hub) || (_sessions.Cluster.Length > 0 && _sessions.Cluster != hub.Cluster))
        {
            throw new LinkFormatException("it is a hub of another cluster or of a version that this edge does not speak");
        }

        _sessions.Cluster = hub.Cluster;
        if (_sessions.IsBack())
        {
            Log.Linked(_log, hub.Node, _hub);
        }

        output.Version = _self.VersionWith(hub);
        _link.IsPlain = _hub.Scheme == Uri.UriSchemeWs && !_hub.IsLoopback;
        _link.Connect(output);
    }

    private LinkHello ReadAnswer(LinkItemKind kind, ReadOnlyMemory<byte> members)
    {
        try
        {
            var hub = LinkHello.ReadAnswer(kind, members);
            _sessions.Refusal = null;
            return hub;
        }
        catch (LinkFormatException refusal) when (kind == LinkItemKind.NotLinked)
        {
            _sessions.Refusal = refusal.Message;
            throw;
        }
    }

    // Once that the hub is away, whatever each dial comes to: an hour is not 7,200 lines. Each refusal once.
    private void Say(string why)
    {
        if (_sessions.IsNews(_sessions.Refusal ?? "away"))
        {
            Log.NotLinked(_log, _hub, why.TrimEnd('.'));
        }
    }

    private static partial class Log
    {
        [LoggerMessage(1, LogLevel.Information, "Linked to hub {Hub} at {Address}.", EventName = "HubLinked")]
        public static partial void Linked(ILogger logger, string hub, Uri address);

        [LoggerMessage(2, LogLevel.Warning, "No link to the hub at {Address}: {Why}. The edge tries again.", EventName = "HubNotLinked")]
        public static partial void NotLinked(ILogger logger, Uri address, string why);
    }
}
