using System.Collections.Concurrent;
using System.Text.Json;
using System.Threading.Channels;
using Pnh.ClientScenes;

// Sessions of the .NET client for the scenes of tests/clients: an order a line on the standard input, a report a line on the standard output, until the input ends.
var sessions = new ConcurrentDictionary<string, SceneSession>();
var reports = Channel.CreateUnbounded<Report>();
var telling = TellAsync();
while (await Console.In.ReadLineAsync() is { } line)
{
    var order = JsonSerializer.Deserialize(line, LinesJson.Default.Order)!;
    switch (order.Do)
    {
        case "open":
            sessions[order.User] = new SceneSession(order, report => reports.Writer.TryWrite(report));
            break;
        case "token":
            sessions[order.User].Give(order.Id!, order.Token);
            break;
        case "handled":
            sessions[order.User].Handled(order.Id!, order.HasFailed);
            break;
        case "close" when sessions.TryRemove(order.User, out var closed):
            _ = closed.DisposeAsync().AsTask();
            break;
    }
}

await Task.WhenAll(sessions.Values.Select(static session => session.DisposeAsync().AsTask()));
reports.Writer.Complete();
await telling;

async Task TellAsync()
{
    await foreach (var report in reports.Reader.ReadAllAsync())
    {
        await Console.Out.WriteLineAsync(JsonSerializer.Serialize(report, LinesJson.Default.Report));
    }
}
