using System.Text.Json;
using Microsoft.AspNetCore.SignalR;
using Pnh.SignalRPeer;

// SignalR as its documentation has it, for bench/compare.sh: a group per channel, what is POSTed to /pub/{channel} goes to the group. Pnh.SignalRPeer PORT; loopback only.
var builder = WebApplication.CreateSlimBuilder();
builder.WebHost.UseUrls($"http://127.0.0.1:{args[0]}");
builder.Logging.ClearProviders();
builder.Services.AddSignalR();
var app = builder.Build();
app.MapHub<PeerHub>("/hub");
app.MapPost("/pub/{channel}", async (string channel, HttpRequest request, IHubContext<PeerHub> hub) =>
{
    var body = await JsonSerializer.DeserializeAsync<JsonElement>(request.Body);
    await hub.Clients.Group(channel).SendAsync("event", body);
    return Results.Accepted();
});
await app.RunAsync();
