using System.Collections.Concurrent;
using Microsoft.Extensions.Logging;
using Pnh.Channels.Links.Protocol;

namespace Pnh.Channels.Links;

/// <summary>Links that were refused: counted by reason, and one line a minute for each peer and reason. Thread-safe.</summary>
internal sealed partial class LinkRefusals(TimeProvider time, ILogger log)
{
    private const int MostPeers = 1_000;
    private static readonly TimeSpan Minute = TimeSpan.FromMinutes(1);
    private readonly ConcurrentDictionary<(string Reason, string Peer), long> _said = new();

    /// <summary>Called with the reason of each. Must not wait or throw.</summary>
    public Action<string> Counted { get; set; } = static _ => { };

    /// <summary>Notes one.</summary>
    public void Note(string peer, LinkRefusal refusal)
    {
        Counted(refusal.Reason);
        var now = time.GetTimestamp();
        if (_said.TryGetValue((refusal.Reason, peer), out var last) && time.GetElapsedTime(last, now) < Minute)
        {
            return;
        }

        if (_said.Count >= MostPeers)
        {
            _said.Clear(); // of so many peers the lines come sooner again
        }

        _said[(refusal.Reason, peer)] = now;
        Refused(log, peer, refusal.Reason, refusal.Text);
    }

    [LoggerMessage(1, LogLevel.Warning, "A link from {Peer} was refused: {Reason}. {Text}", EventName = "EdgeLinkRefused")]
    private static partial void Refused(ILogger logger, string peer, string reason, string text);
}
