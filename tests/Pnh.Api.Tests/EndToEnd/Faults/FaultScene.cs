using Microsoft.Extensions.DependencyInjection;
using Pnh.Channels.Provider.Connections;
using Pnh.Core.Hubs;
using Pnh.Sandbox;
using Pnh.Sandbox.Contract;
using Pnh.TestKit;

namespace Pnh.Api.Tests.EndToEnd.Faults;

/// <summary>A hub, strict providers, and wires in between that can be spoilt. Hub and providers live by one fake clock; the hub's can be wrong.</summary>
internal sealed class FaultScene : IAsyncDisposable
{
    private readonly FakeTimeProvider _time;
    private ClockRunner _runner = null!;

    private FaultScene(TemporaryFolder folder, FakeTimeProvider time)
    {
        _time = time;
        HubClock = new SteppedClock(time);
        (Apns, Fcm, Tokens) = (new FaultyWire(time), new FaultyWire(time), new FaultyWire(time));
        KeyFile = folder[$"{Guid.NewGuid():n}.p8"];
        AccountFile = folder[$"{Guid.NewGuid():n}.json"];
    }

    public TestHub Hub { get; private set; } = null!;

    public SandboxServer Sandbox { get; private set; } = null!;

    public SteppedClock HubClock { get; }

    public FaultyWire Apns { get; }

    public FaultyWire Fcm { get; }

    /// <summary>In front of Google's token endpoint.</summary>
    public FaultyWire Tokens { get; }

    /// <summary>The hub's APNs key, a copy.</summary>
    public string KeyFile { get; }

    /// <summary>The hub's service account, a copy that names <see cref="Tokens"/>.</summary>
    public string AccountFile { get; }

    /// <param name="folder">Keeps the providers' keys from one scene to the next, since making them takes longest.</param>
    /// <param name="transport"><c>Lanes:Transport</c>.</param>
    public static async Task<FaultScene> StartAsync(TemporaryFolder folder, string transport)
    {
        var time = new FakeTimeProvider();
        var scene = new FaultScene(folder, time);
        var audience = new Uri(scene.Tokens.Address, "token").AbsoluteUri;
        var sandbox = await SandboxServer.StartAsync(
            new SandboxOptions { Folder = folder["sandbox"], ApnsPort = 0, FcmPort = 0, TimeProvider = time, ExtraAudiences = [audience] }, default);
        scene.Sandbox = sandbox;
        scene.Apns.Target = sandbox.ApnsAddress;
        (scene.Fcm.Target, scene.Tokens.Target) = (sandbox.FcmAddress, sandbox.FcmAddress);
        File.Copy(sandbox.Credentials.KeyFile, scene.KeyFile);
        var account = await File.ReadAllTextAsync(sandbox.Credentials.ServiceAccountFile);
        await File.WriteAllTextAsync(scene.AccountFile, account.Replace(new Uri(sandbox.FcmAddress, "token").AbsoluteUri, audience, StringComparison.Ordinal));
        scene.Hub = await TestHub.StartAsync(null, null, scene.HubClock, [.. scene.Configuration(), $"--Pnh:Lanes:Transport={transport}"]);
        var trust = scene.Hub.Host.Services.GetRequiredService<ProviderTrust>();
        Array.ForEach([scene.Apns, scene.Fcm, scene.Tokens], wire => trust.Trust(wire.Address, sandbox.CaCertificate));
        var gauges = scene.Hub.Host.Services.GetServices<ProviderGauges>().ToArray();
        scene._runner = new ClockRunner(time, () => gauges.Sum(static one => one.InFlight));
        return scene;
    }

    public void Listen()
    {
        Apns.Listen();
        Fcm.Listen();
        Tokens.Listen();
    }

    /// <summary>For both providers.</summary>
    public void Spoil(WireFault fault) => (Apns.Fault, Fcm.Fault) = (fault, fault);

    public void Register(int phone) => Send("PUT", $"/v1/users/{User(phone)}/devices/phone", phone % 2 == 0
        ? $$"""{"platform":"ios","apns":{"token":"{{Address(phone)}}"} }"""
        : $$"""{"platform":"android","fcm":{"token":"{{Address(phone)}}"} }""");

    public void Post(int phone) => Assert.Equal(202, Send(
        "POST", "/v1/events", $$"""{"id":"event-{{phone}}","to":{"user":"{{User(phone)}}"},"class":"message","ttl":3600,"notification":{"title":"Hi"} }""").Status);

    /// <summary>Of its own per phone; even ones are iPhones.</summary>
    public static string Address(int phone) => $"c0ffee{phone:x4}";

    /// <summary>Lets so much time pass for hub and providers; whatever <paramref name="hangs"/>, else the clock stands while requests are under way.</summary>
    public async Task PassAsync(TimeSpan time, bool hangs)
    {
        var until = _time.GetUtcNow() + time;
        _runner.IsFree = hangs;
        await TestHub.EventuallyAsync(() => _time.GetUtcNow(), now => now >= until);
        _runner.IsFree = false;
    }

    /// <summary>Lets so much time pass, exactly, with the hub at rest after each quarter of a second; then the clock stands.</summary>
    public Task StepAsync(TimeSpan time)
    {
        _runner.IsHeld = true;
        return _runner.StepAsync(time, () => Hub.Host.Services.GetRequiredService<Hub>().IsIdle);
    }

    public double Metric(string series)
    {
        var page = Hub.SendAsync("GET", "/metrics", operations: true).AsTaskResult().Body;
        return page.Split('\n').Where(line => line.StartsWith(series, StringComparison.Ordinal))
            .Sum(static line => double.Parse(line[(line.LastIndexOf(' ') + 1)..], System.Globalization.CultureInfo.InvariantCulture));
    }

    public async ValueTask DisposeAsync()
    {
        Spoil(WireFault.None);
        Tokens.Fault = WireFault.None;
        await Hub.DisposeAsync();
        await _runner.DisposeAsync();
        await Sandbox.DisposeAsync();
        await Apns.DisposeAsync();
        await Fcm.DisposeAsync();
        await Tokens.DisposeAsync();
    }

    private static string User(int phone) => $"user-{phone}";

    private Answer Send(string method, string path, string body) => Hub.SendAsync(method, path, body).AsTaskResult();

    private IEnumerable<string> Configuration() =>
    [
        $"--Pnh:Apps:demo:Keys:0:Secret={TestHub.ConfiguredKey}", "--Pnh:Apps:demo:Keys:0:Scopes=send register read admin",
        $"--Pnh:Apps:demo:Apns:0:TeamId={Sandbox.Credentials.TeamId}", $"--Pnh:Apps:demo:Apns:0:KeyId={Sandbox.Credentials.KeyId}",
        $"--Pnh:Apps:demo:Apns:0:KeyFile={KeyFile}", "--Pnh:Apps:demo:Apns:0:Topic=com.example", "--Pnh:Apps:demo:Apns:0:Environment=production",
        $"--Pnh:Apps:demo:Apns:0:BaseAddress={Apns.Address}",
        $"--Pnh:Apps:demo:Fcm:0:ServiceAccountFile={AccountFile}", $"--Pnh:Apps:demo:Fcm:0:BaseAddress={Fcm.Address}",
    ];
}
