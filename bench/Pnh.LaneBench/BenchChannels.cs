using System.Security.Cryptography;
using System.Security.Cryptography.X509Certificates;
using Microsoft.Extensions.Configuration;
using Microsoft.Extensions.DependencyInjection;
using Pnh.Channels;
using Pnh.Channels.Net.Http2;
using Pnh.Channels.Provider.Connections;
using Pnh.Core.Push;

namespace Pnh.LaneBench;

/// <summary>The channels as the program composes them, with one APNs account: a key of its own, one connection.</summary>
internal static class BenchChannels
{
    public static ServiceProvider Build(Uri address, bool isDirect, string certificateFile)
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
                ["Pnh:Apps:demo:Apns:0:Connections"] = "1",
            })
            .Build()
            .GetSection("Pnh");
        var services = new ServiceCollection()
            .AddSingleton(new ConnectionTransports(new DirectTransport(TimeProvider.System), _ => isDirect, TimeProvider.System))
            .AddPushChannels(pnh)
            .BuildServiceProvider();
        services.GetRequiredService<ProviderTrust>().Trust(address, X509CertificateLoader.LoadCertificateFromFile(certificateFile));
        _ = Apns(services).FindAccount("demo", new("apns", "token", Push.Addresses[0], "production/" + Push.Topic, default))
            ?? throw new InvalidOperationException("no account");
        File.Delete(keyFile);
        return services;
    }

    public static IPushChannel Apns(IServiceProvider services) =>
        services.GetServices<IPushChannel>().Single(static channel => channel.Name == "apns");
}
