using System.Net.Security;
using System.Net.Sockets;
using System.Security.Cryptography;
using System.Security.Cryptography.X509Certificates;
using System.Text;
using System.Text.Json;
using Pnh.LoadTest.Measure;

namespace Pnh.LoadTest.Profiles;

/// <summary>
/// Users with mixed devices, a quarter each: a tab; an iPhone; an Android phone; all three. A tab that acknowledges keeps its user's phones quiet, so every event must arrive once: at
/// the tab where there is one, else at the phone. The phones are the sandbox's, asked for what they received; PNH only.
/// </summary>
internal static class FanOutProfile
{
    private const int Kinds = 4;

    public static BenchResult Run(BenchRun run)
    {
        var users = run.Options.SessionsOr(1000);
        DeviceImport.Run(run.Options, Enumerable.Range(0, users).SelectMany(user => Devices(run, user)));
        for (var user = 0; user < users; user++)
        {
            if (user % Kinds is 0 or 3)
            {
                run.Add(user);
            }
        }

        run.Open();
        var pushed = Received(run);
        var result = run.MeasureWarm(OneProfile.Load(run, users, run.Options.RateOr(200)), run.Options.Seconds);

        // Longer than any ack deadline: a push that must not come has had its chance.
        run.Loop.Run(5);
        var expected = Enumerable.Range(0, users).Where(static user => user % Kinds is 1 or 2).Sum(run.Ledger.Last);
        var arrived = Received(run) - pushed;
        result.Extra["pushes expected"] = expected;
        if (double.IsNaN(arrived))
        {
            return result;
        }

        result.Extra["pushes arrived"] = arrived;
        var off = (long)arrived - expected;
        return result with { Wrong = result.Wrong! with { Lost = result.Wrong.Lost + Math.Max(0, -off), Duplicate = result.Wrong.Duplicate + Math.Max(0, off) } };
    }

    private static IEnumerable<string> Devices(BenchRun run, int user)
    {
        var name = run.Peer.NameOf(user);
        if (user % Kinds is 1 or 3)
        {
            var token = Convert.ToHexStringLower(SHA256.HashData(Encoding.ASCII.GetBytes(name)));
            yield return $$"""{"user":"{{name}}","device":"iphone","platform":"ios","apns":{"token":"{{token}}","environment":"sandbox"} }""";
        }

        if (user % Kinds is 2 or 3)
        {
            yield return $$"""{"user":"{{name}}","device":"android","platform":"android","fcm":{"token":"load:{{name}}"} }""";
        }
    }

    // What all phones have received. The sandbox keeps its CA beside the app's secret.
    private static double Received(BenchRun run)
    {
        if (run.Options.PhonesPort == 0)
        {
            return double.NaN;
        }

        using var socket = new TcpClient(run.Options.Host, run.Options.PhonesPort);
        using var stream = new SslStream(socket.GetStream());
        var policy = new X509ChainPolicy { TrustMode = X509ChainTrustMode.CustomRootTrust, RevocationMode = X509RevocationMode.NoCheck };
        policy.CustomTrustStore.Add(X509CertificateLoader.LoadCertificateFromFile(Path.Combine(run.Options.Data, "sandbox", "ca.pem")));
        stream.AuthenticateAsClient(new SslClientAuthenticationOptions { TargetHost = "localhost", CertificateChainPolicy = policy });
        stream.Write("GET /sandbox/phones HTTP/1.0\r\nHost: localhost\r\n\r\n"u8);
        using var reader = new StreamReader(stream, Encoding.UTF8);
        var answer = reader.ReadToEnd();
        using var phones = JsonDocument.Parse(answer[(answer.IndexOf("\r\n\r\n", StringComparison.Ordinal) + 4)..]);
        return phones.RootElement.EnumerateArray().Sum(static phone => phone.GetProperty("received").GetDouble());
    }
}
