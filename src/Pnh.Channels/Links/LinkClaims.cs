using System.Collections.Concurrent;
using Microsoft.Extensions.Logging;
using Pnh.Channels.Links.Protocol;
using Pnh.Core.Sessions;

namespace Pnh.Channels.Links;

/// <summary>Sessions that an edge asked for and was given, until it says them as its own. When its connection ends first, nobody holds them. Thread-safe.</summary>
internal sealed class LinkClaims(ISessionEvents hub, ILogger log)
{
    private readonly ConcurrentDictionary<SessionKey, bool> _given = new();
    private volatile bool _isEnded;

    /// <summary>Asks the node that holds the session, and answers the edge. Null = it is none that the edge may ask for.</summary>
    public async Task AnswerAsync(LinkQueue output, long call, SessionKey? key, long seq, DateTimeOffset? connectedAt)
    {
        var topics = key is { } proven ? await ClaimAsync(proven, seq, connectedAt) : null;
        using var item = output.Begin(LinkItemKind.Claimed);
        item.Members.Number(call).Flag(topics is not null).Texts(topics ?? []);
    }

    // Its topics; null = nobody gives it away.
    private async Task<IReadOnlyList<string>?> ClaimAsync(SessionKey key, long seq, DateTimeOffset? connectedAt)
    {
        try
        {
            var topics = await hub.ClaimAsync(key, seq, connectedAt);
            if (topics is not null)
            {
                _given[key] = true;
            }

            return topics;
        }
        catch (Exception fault)
        {
            HubSession.HubFailed(log, fault);
            return null;
        }
        finally
        {
            if (_isEnded)
            {
                End();
            }
        }
    }

    /// <summary>The edge says the session.</summary>
    public void Taken(SessionKey key) => _given.TryRemove(key, out _);

    /// <summary>The edge's connection is no more.</summary>
    public void End()
    {
        _isEnded = true;
        foreach (var (key, _) in _given)
        {
            if (_given.TryRemove(key, out _))
            {
                hub.Closed(key);
            }
        }
    }
}
