using System.Security.Cryptography;
using System.Text.Json;
using Pnh.Channels.Tests.Http;
using Pnh.Core.Events;
using Pnh.Core.Push;
using Pnh.Core.Users;

namespace Pnh.Channels.Tests.Fcm;

/// <summary>An FCM account of app demo against two stand-ins (messages and OAuth), and one sender over it.</summary>
internal sealed class FcmFixture : IAsyncDisposable
{
    private readonly ChannelHost _host;

    private FcmFixture(ProviderStandIn server, ProviderStandIn oauth, TimeProvider time)
    {
        Server = server;
        OAuth = oauth;
        Time = time;
        Key = RSA.Create(2048);
        _host = new ChannelHost(
            time,
            new() { ["Apps:demo:Fcm:0:ServiceAccountFile"] = "account.json", ["Apps:demo:Fcm:0:BaseAddress"] = server.Address.AbsoluteUri },
            new() { ["account.json"] = AccountFile(Key, oauth.Address + "token") });
        _host.Trust(server.Address);
        _host.Trust(oauth.Address);
        Sender = _host.Channel("fcm").Open("demo/0", EventClass.Message);
    }

    public ProviderStandIn Server { get; }

    public ProviderStandIn OAuth { get; }

    public TimeProvider Time { get; }

    public RSA Key { get; }

    public IPushSender Sender { get; }

    public IPushChannel Channel => _host.Channel("fcm");

    /// <summary>A token per request, numbered: <c>access-0</c>, <c>access-1</c>, …</summary>
    public static Reply Grant(int n, int seconds = 3600) =>
        new(200, $$"""{"access_token":"access-{{n}}","expires_in":{{seconds}},"token_type":"Bearer"}""");

    public static async Task<FcmFixture> StartAsync(
        Func<Received, int, Reply> script, Func<Received, int, Reply>? oauth = null, TimeProvider? time = null) =>
        new(
            await ProviderStandIn.StartAsync(script),
            await ProviderStandIn.StartAsync(oauth ?? ((_, n) => Grant(n))),
            time ?? TimeProvider.System);

    public static string AccountFile(RSA key, string tokenUri) =>
        $$"""{"type":"service_account","project_id":"pnh-test","private_key_id":"key-1","private_key":"{{JsonEncodedText.Encode(key.ExportPkcs8PrivateKeyPem())}}","client_email":"pnh@pnh-test.iam.gserviceaccount.com","token_uri":"{{tokenUri}}"}""";

    public static PushAddress Address(string kind = "token", string value = "dev:APA91b_x-1") => new("fcm", kind, value, "", default);

    public static Reply Ok() => new(200, """{"name":"projects/pnh-test/messages/0:1"}""");

    public Task<DeliveryResult> SendAsync(Event accepted, PushAddress? address = null, string? locale = null) =>
        Sender.SendAsync(Sample.Delivery(accepted, address ?? Address(), locale), CancellationToken.None).AsTask().WaitAsync(Sample.Limit);

    public Task<DeliveryResult> SendAsync(Delivery delivery) => Sender.SendAsync(delivery, CancellationToken.None).AsTask().WaitAsync(Sample.Limit);

    public async ValueTask DisposeAsync()
    {
        await Sender.DisposeAsync();
        await _host.DisposeAsync();
        await Server.DisposeAsync();
        await OAuth.DisposeAsync();
        Key.Dispose();
    }
}
