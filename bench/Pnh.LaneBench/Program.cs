using System.Globalization;
using Pnh.LaneBench;

// LaneBench MODE ADDRESS SECONDS CERTIFICATE [IN_FLIGHT]: pushes to ADDRESS and prints requests per CPU second of this process, kernel time included.
if (args.Length < 4)
{
    Console.Error.WriteLine("usage: Pnh.LaneBench sockets|direct|sender-sockets|sender-direct https://localhost:PORT SECONDS CERTIFICATE [IN_FLIGHT]");
    return 2;
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
    _ => throw new ArgumentException($"unknown mode {args[0]}"),
};

// Until nothing is left to compile: the tiered JIT works beside the first hundred thousand pushes. Counted in CPU time, as others may be using the machine.
while (Environment.CpuUsage.TotalTime < TimeSpan.FromSeconds(3))
{
    await Round.RunAsync(client, inFlight, TimeSpan.FromSeconds(0.5));
}

var round = await Round.RunAsync(client, inFlight, time);
Console.WriteLine(string.Create(
    CultureInfo.InvariantCulture,
    $"{round.Requests / round.CpuSeconds:F0} per-cpu-second {round.Requests} requests {round.CpuSeconds:F2} cpu-s ({round.KernelSeconds:F2} kernel) {round.Seconds:F2} s {(double)round.Allocated / round.Requests:F1} bytes-per-request"));
return 0;
