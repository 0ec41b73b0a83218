using System.Security.Cryptography;
using System.Security.Cryptography.X509Certificates;
using Microsoft.Extensions.Configuration;
using Microsoft.Extensions.DependencyInjection;
using Pnh.Channels;
using Pnh.Channels.Http;
using Pnh.Channels.Http.Pool;
using Pnh.Channels.Http2;
using Pnh.Core.Deliveries;
using Pnh.Core.Devices;
using Pnh.Core.Events;

namespace Pnh.LaneBench;

/// <summary>The whole path of a push to Apple: sender, pipeline, pool, connection. One event to many devices, as a fan-out is.</summary>
internal sealed class SenderClient : IClient
{
    private readonly ServiceProvider _services;
    private readonly IPushSender _sender;
    private readonly Delivery[] _deliveries;

    public SenderClient(Uri address, bool isDirect, string certificateFile)
    {
        var keyFile = Path.GetTempFileName();
        using (var key = ECDsa.Create(ECCurve.NamedCurves.nistP256))
        {
            File.WriteAllText(keyFile, key.ExportPkcs8PrivateKeyPem());
        }

        var pnh = new ConfigurationBuilder()
            .AddInMemoryCollection(new Dictionary<string, string?>
            {
                ["Pnh:Apps:demo:Apns:0:TeamId"] = "TEAM123456",
                ["Pnh:Apps:demo:Apns:0:KeyId"] = "KEY1234567",
                ["Pnh:Apps:demo:Apns:0:KeyFile"] = keyFile,
                ["Pnh:Apps:demo:Apns:0:Topic"] = Push.Topic,
                ["Pnh:Apps:demo:Apns:0:BaseAddress"] = address.AbsoluteUri,
            })
            .Build()
            .GetSection("Pnh");
        _services = new ServiceCollection()
            .AddSingleton(new ConnectionTransports(new DirectTransport(TimeProvider.System), _ => isDirect))
            .AddPushChannels(pnh)
            .BuildServiceProvider();
        _services.GetRequiredService<ProviderTrust>().Trust(address, X509CertificateLoader.LoadCertificateFromFile(certificateFile));
        _sender = _services.GetServices<IPushChannel>().Single(channel => channel.Name == "apns").Open("demo/0", EventClass.Message);
        File.Delete(keyFile);
        _deliveries = Deliveries();
    }

    public async Task<long> PushUntilAsync(long end, int worker)
    {
        long count = 0;
        for (; TimeProvider.System.GetTimestamp() < end; count++)
        {
            var result = await _sender.SendAsync(_deliveries[(worker + count) % _deliveries.Length], CancellationToken.None);
            if (result.Status != DeliveryStatus.Accepted)
            {
                // The pool may shed under a noisy neighbour: that is no push, and no reason to stop.
                Console.Error.WriteLine($"{result.Status} {result.Reason}");
                count--;
            }
        }

        return count;
    }

    public async ValueTask DisposeAsync()
    {
        await _sender.DisposeAsync();
        await _services.DisposeAsync();
    }

    private static Delivery[] Deliveries()
    {
        var now = TimeProvider.System.GetUtcNow();
        var accepted = new Event
        {
            App = "demo",
            Id = "event-1",
            To = EventTarget.ToUser("ada"),
            Class = EventClass.Message,
            AcceptedAt = now,
            ExpiresAt = now + TimeSpan.FromHours(24),
            Notification = new Notification { Title = "Grace", Body = new string('b', 120) },
        };
        return
        [
            .. Push.Addresses.Select((address, number) =>
            {
                var push = new PushAddress("apns", "token", address, "production/" + Push.Topic, default);
                return new Delivery
                {
                    Event = accepted,
                    User = new UserKey("demo", "ada"),
                    Device = new Device { Id = $"phone-{number}", Platform = Platform.Ios, Addresses = [push], RegisteredAt = now },
                    Address = push,
                };
            }),
        ];
    }
}
