using System.Security.Cryptography;
using Microsoft.AspNetCore.Server.Kestrel.Core;
using Microsoft.Extensions.DependencyInjection;
using Pnh.Channels.Provider.Connections;
using Pnh.Channels.Tests.Http;
using Pnh.Channels.WebPush;
using Pnh.Core.Events;
using Pnh.Core.Push;
using Pnh.Core.Users;
using Pnh.TestKit;

namespace Pnh.Channels.Tests.WebPush;

/// <summary>A Web Push account of app demo against one stand-in, and one sender over it.</summary>
internal sealed class WebPushFixture : IAsyncDisposable
{
    private readonly ChannelHost _host;

    private WebPushFixture(PushServiceStandIn server, FakeTimeProvider time, string host, bool allowLoopback, EndpointNetwork? network, string? pattern)
    {
        Server = server;
        Time = time;
        Endpoint = $"https://{host}:{server.Port}/p/secret-1";
        using var key = ECDsa.Create(ECCurve.NamedCurves.nistP256);
        _host = new ChannelHost(time, Settings($"{pattern ?? host}:{server.Port}", allowLoopback), new() { ["vapid.pem"] = key.ExportPkcs8PrivateKeyPem() });
        _host.Trust(new Uri($"https://{(pattern ?? host).TrimStart('*', '.')}:{server.Port}"));
        Assert.Empty(_host.Check());
        Channel = network is null ? _host.Channel("webpush") : Over(network);
        Sender = Channel.Open(Channel.FindAccount("demo", Address())!, EventClass.Message);
    }

    public PushServiceStandIn Server { get; }

    public FakeTimeProvider Time { get; }

    public string Endpoint { get; }

    public IPushChannel Channel { get; }

    public IPushSender Sender { get; }

    public ProviderGauges Gauges => _host.Gauges("webpush");

    public static Dictionary<string, string?> Settings(string? hosts = null, bool allowLoopback = false) => new()
    {
        ["Apps:demo:WebPush:0:Subject"] = "mailto:ops@example.com",
        ["Apps:demo:WebPush:0:KeyFile"] = "vapid.pem",
        ["Apps:demo:WebPush:0:AllowedHosts"] = hosts,
        ["Apps:demo:WebPush:0:AllowLoopback"] = allowLoopback ? "true" : null,
    };

    public static async Task<WebPushFixture> StartAsync(
        Func<int, Answer>? script = null,
        HttpProtocols protocols = HttpProtocols.Http1AndHttp2,
        string host = "localhost",
        bool allowLoopback = true,
        ResolveHost? resolve = null,
        string? pattern = null,
        DialAddresses? dial = null)
    {
        var time = new FakeTimeProvider();
        var certificate = host == "localhost" ? null : TestAuthority.Issue(TestAuthority.Certificate, host);
        var server = await PushServiceStandIn.StartAsync(time, script ?? (_ => new Answer(201)), protocols, certificate);
        return new WebPushFixture(server, time, host, allowLoopback, NetworkOf(resolve, dial), pattern);
    }

    public PushAddress Address(string? endpoint = null) => Server.Browser.Subscribe(endpoint ?? Endpoint);

    public Task<DeliveryResult> SendAsync(Event accepted, PushAddress? address = null, string? locale = null) =>
        SendAsync(Sample.Delivery(accepted, address ?? Address(), locale));

    public Task<DeliveryResult> SendAsync(Delivery delivery) => Sender.SendAsync(delivery, CancellationToken.None).AsTask().WaitAsync(Sample.Limit);

    public async ValueTask DisposeAsync()
    {
        await Sender.DisposeAsync();
        await _host.DisposeAsync();
        await Server.DisposeAsync();
    }

    private static EndpointNetwork? NetworkOf(ResolveHost? resolve, DialAddresses? dial) => resolve is null && dial is null
        ? null
        : new EndpointNetwork(resolve ?? EndpointNetwork.System.Resolve, dial ?? EndpointNetwork.System.Dial);

    private WebPushChannel Over(EndpointNetwork network) => new(
        _host.Services.GetRequiredService<WebPushAccounts>(),
        network,
        ProviderServices.From(_host.Services, Gauges));
}
