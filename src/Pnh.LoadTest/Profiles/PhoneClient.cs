using System.Net.Security;
using System.Net.Sockets;
using System.Security.Cryptography.X509Certificates;
using System.Text;
using System.Text.Json;
using Pnh.LoadTest.Options;

namespace Pnh.LoadTest.Profiles;

/// <summary>The sandbox's phones: how many pushes each push address received.</summary>
internal static class PhoneClient
{
    /// <summary>Asks them. The sandbox keeps its CA beside the app's secret.</summary>
    public static Dictionary<string, long> Read(BenchOptions options)
    {
        using var socket = new TcpClient(options.Host, options.PhonesPort);
        using var stream = new SslStream(socket.GetStream());
        var policy = new X509ChainPolicy { TrustMode = X509ChainTrustMode.CustomRootTrust, RevocationMode = X509RevocationMode.NoCheck };
        policy.CustomTrustStore.Add(X509CertificateLoader.LoadCertificateFromFile(Path.Combine(options.Data, "sandbox", "ca.pem")));
        stream.AuthenticateAsClient(new SslClientAuthenticationOptions { TargetHost = "localhost", CertificateChainPolicy = policy });
        stream.Write("GET /sandbox/phones HTTP/1.0\r\nHost: localhost\r\n\r\n"u8);
        using var reader = new StreamReader(stream, Encoding.UTF8);
        var answer = reader.ReadToEnd();
        using var phones = JsonDocument.Parse(answer[(answer.IndexOf("\r\n\r\n", StringComparison.Ordinal) + 4)..]);
        return phones.RootElement.EnumerateArray().ToDictionary(
            static phone => phone.GetProperty("address").GetString()!, static phone => phone.GetProperty("received").GetInt64(), StringComparer.Ordinal);
    }

    /// <summary>What did not come to its address, and what came there beyond: one total would let them make up for each other.</summary>
    /// <param name="expected">By address, those that must stay quiet too.</param>
    /// <param name="received">By address; those that are no phone of the run are passed over.</param>
    public static (long Lost, long Spurious) Compare(IReadOnlyDictionary<string, long> expected, IReadOnlyDictionary<string, long> received)
    {
        var (lost, spurious) = (0L, 0L);
        foreach (var (address, wanted) in expected)
        {
            var off = received.GetValueOrDefault(address) - wanted;
            lost += Math.Max(0, -off);
            spurious += Math.Max(0, off);
        }

        return (lost, spurious);
    }
}
