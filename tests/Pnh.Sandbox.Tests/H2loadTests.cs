using System.Diagnostics;
using Pnh.Sandbox.Tests.Apns;
using Pnh.Sandbox.Tests.Fcm;
using Pnh.TestKit;

namespace Pnh.Sandbox.Tests;

/// <summary>nghttp2's load generator: an HTTP/2 client that nobody here wrote, with many streams on few connections. Every request is taken, and arrives.</summary>
public sealed class H2loadTests : IDisposable
{
    private const int Requests = 1_000;

    private readonly TemporaryFolder _folder = new();

    public void Dispose() => _folder.Dispose();

    [RequiresFactAttribute("h2load")]
    public async Task H2load_ApnsPushes_AllAcceptedAndShown()
    {
        await using SandboxUnderTest sandbox = await SandboxUnderTest.StartAsync();
        string[] phones = [ApnsCaller.NewAddress(), ApnsCaller.NewAddress()];

        // More streams at once than Apple grants to begin with: h2load has to keep to what SETTINGS say then and later.
        string report = await RunAsync(ApnsCaller.Payload, streams: 50,
            [.. phones.Select(phone => new Uri(sandbox.Server.ApnsAddress, $"/3/device/{phone}"))],
            $"authorization: bearer {sandbox.ProviderToken()}", "apns-push-type: alert", "apns-topic: com.example.demo");

        AssertTaken(report);
        Assert.Equal(Requests, phones.Sum(phone => sandbox.Server.Phones.Find(phone)!.Received));
    }

    [RequiresFactAttribute("h2load")]
    public async Task H2load_FcmMessages_AllAcceptedAndShown()
    {
        await using SandboxUnderTest sandbox = await SandboxUnderTest.StartAsync();
        string phone = FcmCaller.NewAddress();
        string access = await new FcmCaller(sandbox).AccessTokenAsync();

        string report = await RunAsync($$$"""{"message":{"token":"{{{phone}}}","notification":{"title":"Grace"} } }""", streams: 100,
            [new Uri(sandbox.Server.FcmAddress, $"/v1/projects/{sandbox.Project}/messages:send")],
            $"authorization: Bearer {access}", "content-type: application/json");

        AssertTaken(report);
        Assert.Equal(Requests, sandbox.Server.Phones.Find(phone)!.Received);
    }

    private static void AssertTaken(string report) => Assert.Contains($"status codes: {Requests} 2xx, 0 3xx, 0 4xx, 0 5xx", report, StringComparison.Ordinal);

    private async Task<string> RunAsync(string body, int streams, Uri[] addresses, params string[] headers)
    {
        File.WriteAllText(_folder["body"], body);
        using CancellationTokenSource timeout = new(SandboxUnderTest.Patience);
        ProcessStartInfo start = new("h2load", ["-n", $"{Requests}", "-c", "2", "-m", $"{streams}", "-d", _folder["body"]]) { RedirectStandardOutput = true };
        foreach (string header in headers)
        {
            start.ArgumentList.Add("-H");
            start.ArgumentList.Add(header);
        }

        Array.ForEach(addresses, address => start.ArgumentList.Add(address.AbsoluteUri));
        using Process h2load = Process.Start(start)!;
        try
        {
            string report = await h2load.StandardOutput.ReadToEndAsync(timeout.Token);
            await h2load.WaitForExitAsync(timeout.Token);
            return report;
        }
        finally
        {
            if (!h2load.HasExited)
            {
                h2load.Kill();
            }
        }
    }
}
