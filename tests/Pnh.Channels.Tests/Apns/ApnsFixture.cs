using System.Security.Cryptography;
using Microsoft.Extensions.DependencyInjection;
using Pnh.Channels.Apns;
using Pnh.Channels.Provider.Connections;
using Pnh.Channels.Tests.Http;
using Pnh.Core.Events;
using Pnh.Core.Push;
using Pnh.Core.Users;

namespace Pnh.Channels.Tests.Apns;

/// <summary>An APNs account of app demo against a stand-in, and one sender over it.</summary>
internal sealed class ApnsFixture : IAsyncDisposable
{
    public const string Token = "0011aabbccddeeff";

    private readonly ChannelHost _host;
    private readonly ProviderStandIn? _server;
    private readonly IDisposable? _place;

    private ApnsFixture(ProviderStandIn? server, Uri address, TimeProvider time, IDisposable? place = null)
    {
        _server = server;
        _place = place;
        Time = time;
        Key = ECDsa.Create(ECCurve.NamedCurves.nistP256);
        _host = new ChannelHost(time, Settings(address.AbsoluteUri), new() { ["key.p8"] = Key.ExportPkcs8PrivateKeyPem() });
        _host.Trust(address);
        Sender = _host.Channel("apns").Open("demo/0", EventClass.Message);
    }

    public ProviderStandIn Server => _server!;

    public TimeProvider Time { get; }

    public ECDsa Key { get; }

    public IPushSender Sender { get; }

    public ProviderGauges Gauges => _host.Gauges("apns");

    public IPushChannel Channel => _host.Channel("apns");

    public static async Task<ApnsFixture> StartAsync(Func<Received, int, Reply> script, TimeProvider? time = null)
    {
        var server = await ProviderStandIn.StartAsync(script);
        return new ApnsFixture(server, server.Address, time ?? TimeProvider.System);
    }

    /// <summary>Nobody listens at the address.</summary>
    public static ApnsFixture WithoutServer()
    {
        var nobody = new ClosedPort();
        return new ApnsFixture(null, nobody.Address, TimeProvider.System, nobody);
    }

    /// <summary>Against somebody else's server.</summary>
    public static ApnsFixture At(Uri address, TimeProvider time) => new(null, address, time);

    /// <summary>Another value in the configuration of the running hub.</summary>
    public void Configure(string key, string? value) => _host.Pnh[key] = value;

    /// <summary>Another file of the host's folder.</summary>
    public string Write(string name, string text)
    {
        File.WriteAllText(_host.PathOf(name), text);
        return _host.PathOf(name);
    }

    public static Dictionary<string, string?> Settings(string? baseAddress) => new()
    {
        ["Apps:demo:Apns:0:TeamId"] = "TEAM123456",
        ["Apps:demo:Apns:0:KeyId"] = "KEY1234567",
        ["Apps:demo:Apns:0:KeyFile"] = "key.p8",
        ["Apps:demo:Apns:0:Topic"] = "com.example",
        ["Apps:demo:Apns:0:BaseAddress"] = baseAddress,
    };

    public static PushAddress Address(string kind = "token", string value = Token) =>
        new("apns", kind, value, "production/com.example", default);

    public Task<DeliveryResult> SendAsync(Event accepted, string kind = "token", string? locale = null, string device = "phone-1") =>
        Sender.SendAsync(Sample.Delivery(accepted, Address(kind), locale, device), CancellationToken.None).AsTask().WaitAsync(Sample.Limit);

    public Task<DeliveryResult> SendAsync(Delivery delivery) => Sender.SendAsync(delivery, CancellationToken.None).AsTask().WaitAsync(Sample.Limit);

    /// <summary>Another text in the account's key file, as a secret's mount would put it there: at once.</summary>
    public void WriteKey(string text)
    {
        File.WriteAllText(_host.PathOf("next.p8"), text);
        File.Move(_host.PathOf("next.p8"), _host.PathOf("key.p8"), overwrite: true);
    }

    /// <summary>Another key in the place of the account's, as its file would bring it, but now.</summary>
    public void Take(ECDsa other) =>
        ((ApnsCredential)_host.Services.GetRequiredService<ApnsAccounts>().Get("demo/0").Identity).Take("TEAM123456", "NEWKEY7890", other);

    public void DeleteKey() => File.Delete(_host.PathOf("key.p8"));

    public async ValueTask DisposeAsync()
    {
        await Sender.DisposeAsync();
        await _host.DisposeAsync();
        if (_server is not null)
        {
            await _server.DisposeAsync();
        }

        _place?.Dispose();
        Key.Dispose();
    }
}
