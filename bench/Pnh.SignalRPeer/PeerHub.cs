using Microsoft.AspNetCore.SignalR;

namespace Pnh.SignalRPeer;

/// <summary>A hub whose clients join groups and listen.</summary>
internal sealed class PeerHub : Hub
{
    public Task Join(string group) => Groups.AddToGroupAsync(Context.ConnectionId, group);
}
