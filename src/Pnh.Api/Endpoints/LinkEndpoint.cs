using System.Security.Cryptography;
using System.Text;
using Pnh.Api.Access;
using Pnh.Api.Configuration;
using Pnh.Api.Problems;
using Pnh.Api.Routing;
using Pnh.Channels.Links;

namespace Pnh.Api.Endpoints;

/// <summary><c>/v1/link</c> on the cluster's listener: takes an edge that has the cluster's key, and hands its link to the channel.</summary>
internal sealed class LinkEndpoint
{
    private readonly LinkServer _links;
    private readonly byte[][] _keys;

    public LinkEndpoint(LinkServer links, PnhOptions options)
    {
        _links = links;
        _keys = [.. options.Cluster.Keys.Select(static key => SHA256.HashData(Encoding.ASCII.GetBytes(key)))];
    }

    // The key is no publisher's and no operator's, so it is looked at here.
    public void Map(IEndpointRouteBuilder routes) => routes.MapGet(ClusterOptions.LinkPath, RunAsync).OnCluster().AllowAnyone();

    private async Task RunAsync(HttpContext context)
    {
        var peer = context.Connection.RemoteIpAddress?.ToString() ?? "unknown";
        if (!IsKey(BearerCredential.Read(context.Request.Headers.Authorization)))
        {
            _links.NoteRefusal(peer, new("wrong-key", "It does not have the cluster's key."));
            context.Response.Headers.WWWAuthenticate = "Bearer";
            await new Problem(ProblemCatalogue.Unauthorized, "This is not the cluster's key.").ExecuteAsync(context);
            return;
        }

        if (!context.WebSockets.IsWebSocketRequest)
        {
            context.Response.Headers.Upgrade = "websocket";
            await new Problem(ProblemCatalogue.BadRequest, "This address takes WebSocket connections only.").ExecuteAsync(context);
            return;
        }

        // The framework's keep-alive is off: a ping would wait behind megabytes, and the link has beats of its own.
        using var socket = await context.WebSockets.AcceptWebSocketAsync(new WebSocketAcceptContext { KeepAliveInterval = TimeSpan.Zero });
        await _links.RunAsync(socket, peer);
    }

    // Hashes of one length, compared in a time that does not depend on them; both keys always.
    private bool IsKey(ReadOnlySpan<char> credential)
    {
        Span<byte> shown = stackalloc byte[SHA256.HashSizeInBytes];
        SHA256.HashData(Encoding.UTF8.GetBytes(credential.ToArray()), shown);
        var isKey = false;
        foreach (var key in _keys)
        {
            isKey |= CryptographicOperations.FixedTimeEquals(key, shown);
        }

        return isKey;
    }
}
