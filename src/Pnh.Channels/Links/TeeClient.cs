using System.Net.WebSockets;
using Pnh.Channels.Links.Protocol;

namespace Pnh.Channels.Links;

/// <summary>The other end of a tee: dials a hub, again whenever the link breaks, and gives what is copied. What passes while there is no link is not given.</summary>
internal sealed class TeeClient
{
    private static readonly TimeSpan Wait = TimeSpan.FromMilliseconds(500);
    private readonly IReadOnlyList<Uri> _hubs;
    private readonly string _key;
    private readonly LinkHello _self;
    private readonly Action<TeeCopy> _copied;
    private readonly Action<string> _said;
    private readonly TimeProvider _time;

    /// <param name="hubs">Addresses of the hub, with the path of its tees; each is tried in turn.</param>
    /// <param name="key">The cluster's.</param>
    /// <param name="self">Who asks, and for which apps.</param>
    /// <param name="copied">Called with each copy, one at a time. The hub ends a tee for which this takes too long.</param>
    /// <param name="said">Called with each change of the link, in a few words.</param>
    /// <param name="time">Clock.</param>
    public TeeClient(IReadOnlyList<Uri> hubs, string key, LinkHello self, Action<TeeCopy> copied, Action<string> said, TimeProvider time)
    {
        _hubs = hubs;
        _key = key;
        _self = self;
        _copied = copied;
        _said = said;
        _time = time;
    }

    /// <summary>Runs until it is cancelled.</summary>
    public async Task RunAsync(CancellationToken cancellationToken)
    {
        using var dial = new LinkDial(_key);
        var last = "";
        for (var dials = 0; !cancellationToken.IsCancellationRequested; dials++)
        {
            var hub = _hubs[dials % _hubs.Count];
            var (socket, fault) = await dial.TryAsync(hub, cancellationToken);
            using (socket)
            {
                var why = socket is null ? fault! : await CarryAsync(socket, hub, cancellationToken);
                if (why != last && !cancellationToken.IsCancellationRequested)
                {
                    _said($"no copies from {hub.Authority}: {(last = why).TrimEnd('.')}; it is tried again");
                }
            }

            await Task.Delay(Wait, _time, cancellationToken).ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
        }
    }

    private async Task<string> CarryAsync(ClientWebSocket socket, Uri hub, CancellationToken cancellationToken)
    {
        var output = new LinkQueue();
        using var carrier = new LinkSocket(socket, output, _time);
        await using var stop = cancellationToken.Register(output.Complete);
        _self.Write(output);
        var isGreeted = false;
        return await carrier.RunAsync((kind, members) =>
        {
            if (isGreeted && kind == LinkItemKind.Send)
            {
                _copied(TeeCopy.Read(members));
                return;
            }

            // After it a refusal may come all the same: of one tee too many.
            var answer = LinkHello.ReadAnswer(kind, members);
            isGreeted = true;
            _said($"copies come from {answer.Node} at {hub.Authority}");
        });
    }
}
