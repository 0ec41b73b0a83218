using Pnh.Api.Access;
using Pnh.Api.Listeners;
using Pnh.Api.Problems;
using Pnh.Api.Routing;
using Pnh.Channels.WebSockets.Server;
using Pnh.Channels.WebSockets.Sessions;
using Pnh.Core.Sessions;

namespace Pnh.Api.Endpoints;

/// <summary><c>/v1/socket</c>: takes the upgrade and hands the socket to the channel, which speaks the protocol.</summary>
internal sealed class SocketEndpoint
{
    private readonly WebSocketServer _server;
    private readonly IClientAuthenticator _tokens;

    public SocketEndpoint(WebSocketServer server, IClientAuthenticator tokens)
    {
        _server = server;
        _tokens = tokens;
    }

    // Anyone may connect: the hello brings the token, because a browser cannot set a header here.
    public void Map(IEndpointRouteBuilder routes, bool holdsSockets = true) => routes.MapGet("/v1/socket", holdsSockets ? RunAsync : RefuseAsync).AllowAnyone();

    private static Task RefuseAsync(HttpContext context) =>
        new Problem(ProblemCatalogue.NoSocketsHere, "This node is a hub without sockets: connect to an edge of its cluster.").ExecuteAsync(context);

    private async Task RunAsync(HttpContext context)
    {
        if (!context.WebSockets.IsWebSocketRequest)
        {
            context.Response.Headers.Upgrade = "websocket";
            await new Problem(ProblemCatalogue.BadRequest, "This address takes WebSocket connections only.").ExecuteAsync(context);
            return;
        }

        ClientCredential? client = null;
        if (context.Request.Headers.Authorization.Count > 0)
        {
            var token = BearerCredential.Read(context.Request.Headers.Authorization);
            if (_tokens.Authenticate(token, out var refusal) is not { } identity)
            {
                await AccessGate.Challenge(context, refusal!);
                return;
            }

            client = new ClientCredential(identity, token.ToString());
        }

        var peer = new ConnectionPeer(context.Connection.RemoteIpAddress?.ToString(), context.Request.Headers.UserAgent, _tokens.OriginOf(context.Request.Headers.Origin, context.Request.Host.Value ?? ""));
        using var socket = await context.WebSockets.AcceptWebSocketAsync(_server.AcceptContext(context.WebSockets.WebSocketRequestedProtocols));
        var place = HttpProtocol.IsHttp11(context.Request.Protocol) ? context.Features.Get<KestrelPlace>() : null; // of HTTP/2 it is one of many streams
        await _server.ServeAsync(socket, client, peer, Begun, _server.Stopping);

        void Begun(Connection connection)
        {
            place?.Upgraded(connection);
            context.Features.Get<CountedUpgrade>()?.Serves(connection);
        }
    }
}
