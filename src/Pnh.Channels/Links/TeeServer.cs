using System.Collections.Immutable;
using System.Net.WebSockets;
using Microsoft.Extensions.Logging;
using Pnh.Channels.Links.Protocol;
using Pnh.Core.Events;

namespace Pnh.Channels.Links;

/// <summary>
/// A hub's tees: links that get a copy of every event that the hub accepts, may say nothing, and are ended when they read too slowly. What they get is lost to nobody else. Thread-safe.
/// </summary>
internal sealed partial class TeeServer
{
    /// <summary>Each costs the hub a copy of every event.</summary>
    public const int MostTees = 8;

    private readonly Lock _gate = new();
    private readonly LinkHello _self;
    private readonly LinkRefusals _refusals;
    private readonly TimeProvider _time;
    private readonly ILogger<TeeServer> _log;
    private ImmutableArray<Tee> _tees = [];
    private bool _isStopping;

    /// <param name="self">What this hub says of itself.</param>
    /// <param name="refusals">Counts who is refused.</param>
    /// <param name="time">Clock.</param>
    /// <param name="log">Log.</param>
    public TeeServer(LinkHello self, LinkRefusals refusals, TimeProvider time, ILogger<TeeServer> log)
    {
        _self = self;
        _refusals = refusals;
        _time = time;
        _log = log;
    }

    /// <summary>How many there are.</summary>
    public int Count => _tees.Length;

    /// <summary>Copies an event to the tees of its app. Returns at once; never throws.</summary>
    public void Copy(Event accepted)
    {
        foreach (var tee in _tees)
        {
            // No session's handle: 0.
            if (tee.Apps.Contains(accepted.App) && !tee.Output.TryAdd(0, accepted, _time))
            {
                tee.Carrier.Abort("it read too slowly");
            }
        }
    }

    /// <summary>Serves one tee until it ends. The caller owns the socket. Never throws for what the other end does.</summary>
    public async Task RunAsync(WebSocket socket, string peer)
    {
        var output = new LinkQueue();
        using var carrier = new LinkSocket(socket, output, _time);
        Tee? tee = null;
        LinkRefusal? refusal = null;
        using var late = carrier.ExpectHello(() => Volatile.Read(ref tee) is not null);
        var why = await carrier.RunAsync((kind, members) =>
        {
            if (kind != LinkItemKind.Hello || tee is not null || refusal is not null)
            {
                throw new LinkFormatException("a tee says hello, and nothing else");
            }

            var hello = LinkHello.Read(members);
            refusal = LinkRefusal.Of(_self, hello, keyName: null);
            if (refusal is null)
            {
                _self.Write(output); // the first item: before any copy
                tee = new Tee(hello.Node, [.. hello.Apps], output, carrier);
                refusal = Add(tee);
            }

            refusal?.Say(output);
        });
        refusal ??= tee is null && !LinkSocket.IsGone(why) ? new("no-hello", why) : null;
        if (refusal is not null)
        {
            _refusals.Note(peer, refusal);
        }

        if (refusal is not null || tee is null)
        {
            return;
        }

        lock (_gate)
        {
            _tees = _tees.Remove(tee);
        }

        Log.Ended(_log, tee.Node, peer, why);
    }

    /// <summary>Says goodbye to all, once what was copied has left.</summary>
    public void Stop()
    {
        lock (_gate)
        {
            _isStopping = true;
            foreach (var tee in _tees)
            {
                tee.Output.Complete();
            }
        }
    }

    private LinkRefusal? Add(Tee tee)
    {
        lock (_gate)
        {
            if (_isStopping || _tees.Length >= MostTees)
            {
                return new("too-many-tees", $"The hub has {MostTees} tees already, or stops.");
            }

            _tees = _tees.Add(tee);
        }

        Log.Began(_log, tee.Node, string.Join(' ', tee.Apps));
        return null;
    }

    private sealed record Tee(string Node, ImmutableHashSet<string> Apps, LinkQueue Output, LinkSocket Carrier);

    private static partial class Log
    {
        [LoggerMessage(1, LogLevel.Information, "A tee of {Node} gets copies of the events of {Apps}.", EventName = "TeeBegan")]
        public static partial void Began(ILogger logger, string node, string apps);

        [LoggerMessage(2, LogLevel.Information, "The tee of {Node} at {Peer} ended: {Why}.", EventName = "TeeEnded")]
        public static partial void Ended(ILogger logger, string node, string peer, string why);
    }
}
