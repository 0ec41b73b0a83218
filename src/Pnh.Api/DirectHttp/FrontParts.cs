using System.Text;
using Pnh.Api.Access;
using Pnh.Api.Ingest;
using Pnh.Channels.Net.Epoll;
using Pnh.Channels.WebSockets.Sessions;
using Pnh.Core.Diagnostics;
using Pnh.Core.Sessions;

namespace Pnh.Api.DirectHttp;

/// <summary>Serves an upgraded connection from now on; by the loop's thread.</summary>
internal delegate ILoopClient AcceptSocket(LoopSocket socket, ClientCredential? client, ConnectionPeer peer);

/// <summary>
/// What all connections of the direct transport share. No <paramref name="Intake"/>: this node takes no events, and has no keys; no <paramref name="Accept"/>: it holds no sockets. Kestrel says so. <paramref name="Answers"/> counts what events are answered.
/// </summary>
internal sealed record FrontParts(
    EventIntake? Intake, PublisherKeys Keys, IClientAuthenticator Tokens, AcceptSocket? Accept, RouteMetrics Answers, TimeProvider Time, ILogger<HttpFront> Logger)
{
    /// <summary>What clients may cause is said once a second.</summary>
    public ILogger Log { get; } = new PacedLog(Logger, Time);

    /// <summary>Connections that send on though they were refused.</summary>
    public FrontHolds Holds { get; } = new(Time);

    /// <summary>The publisher that an Authorization header names, when it may send; else null, and Kestrel says why.</summary>
    public Caller? FindSender(ReadOnlySpan<byte> authorization)
    {
        Span<char> text = stackalloc char[PublisherKeys.SecretCharacters + 16];
        if (authorization.Length > text.Length)
        {
            return null;
        }

        var credential = BearerCredential.Read(text[..Encoding.ASCII.GetChars(authorization, text)]);
        return Keys.Find(credential) is { } caller && caller.Scopes.Cover(EventEndpoints.Needed) ? caller : null;
    }

    /// <summary>The origin that an upgrade names, when an app cares and it is not the hub's own.</summary>
    public string? OriginOf(in RequestHead head) => head.Origin.IsEmpty ? null : Tokens.OriginOf(Encoding.ASCII.GetString(head.Origin), Encoding.ASCII.GetString(head.Host));

    /// <summary>False when there is an Authorization header with no valid client token: Kestrel says why.</summary>
    public bool TryFindClient(ReadOnlySpan<byte> authorization, out ClientCredential? client)
    {
        client = null;
        if (authorization.IsEmpty)
        {
            return true;
        }

        var token = BearerCredential.Read(Encoding.ASCII.GetString(authorization));
        client = Tokens.Authenticate(token, out _) is { } identity ? new ClientCredential(identity, token.ToString()) : null;
        return client is not null;
    }
}
