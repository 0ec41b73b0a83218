// LaneBench MODE ADDRESS SECONDS CERTIFICATE [IN_FLIGHT]: pushes to ADDRESS and prints requests per CPU second of this process, kernel time included.
using System.Globalization;
using System.Runtime;
using Pnh.Channels.Net.Http2;
using Pnh.LaneBench;

if (args.Length < 4)
{
    Console.Error.WriteLine("usage: Pnh.LaneBench sockets|direct|sender-sockets|sender-direct|hub-sockets|hub-direct https://localhost:PORT SECONDS CERTIFICATE [IN_FLIGHT]");
    return 2;
}

if (args[0].EndsWith("direct", StringComparison.Ordinal))
{
    InlineCompletions.Enable(); // as the hub does
}

var address = new Uri(args[1]);
var time = TimeSpan.FromSeconds(double.Parse(args[2], CultureInfo.InvariantCulture));
var certificate = args[3];
var inFlight = args.Length > 4 ? int.Parse(args[4], CultureInfo.InvariantCulture) : 100;
await using IClient client = args[0] switch
{
    "sockets" => new SocketsClient(address),
    "direct" => await DirectClient.DialAsync(address),
    "sender-sockets" => new SenderClient(address, isDirect: false, certificate),
    "sender-direct" => new SenderClient(address, isDirect: true, certificate),
    "hub-sockets" => await HubClient.StartAsync(address, isDirect: false, certificate),
    "hub-direct" => await HubClient.StartAsync(address, isDirect: true, certificate),
    _ => throw new ArgumentException($"unknown mode {args[0]}"),
};

// Until next to nothing is compiled any more: the tiered JIT works beside the first hundred thousand pushes, and took a third of the CPU after three seconds of them.
long compiled;
var rounds = 0;
do
{
    compiled = JitInfo.GetCompiledMethodCount();
    await Round.RunAsync(client, inFlight, TimeSpan.FromSeconds(0.5));
}
while (++rounds < 6 || (JitInfo.GetCompiledMethodCount() - compiled > 3 && rounds < 40));

var round = await Round.RunAsync(client, inFlight, time);
Console.WriteLine(string.Create(
    CultureInfo.InvariantCulture,
    $"{round.Requests / round.CpuSeconds:F0} per-cpu-second {round.Requests} requests {round.CpuSeconds:F2} cpu-s ({round.KernelSeconds:F2} kernel) {round.Seconds:F2} s {(double)round.Allocated / round.Requests:F1} bytes-per-request"));
return 0;
