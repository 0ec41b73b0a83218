using System.Net;
using System.Security.Cryptography;
using System.Security.Cryptography.X509Certificates;

namespace Pnh.Api.Tests.EndToEnd;

/// <summary>A self-signed certificate for an IP address, as the two files that Kestrel's configuration names.</summary>
internal static class TestCertificate
{
    internal static X509Certificate2 Write(string folder, IPAddress name)
    {
        using var key = ECDsa.Create(ECCurve.NamedCurves.nistP256);
        var request = new CertificateRequest($"CN={name}", key, HashAlgorithmName.SHA256);
        var names = new SubjectAlternativeNameBuilder();
        names.AddIpAddress(name);
        request.CertificateExtensions.Add(names.Build());
        var now = TimeProvider.System.GetUtcNow();
        var certificate = request.CreateSelfSigned(now.AddDays(-1), now.AddDays(1));
        File.WriteAllText(PemOf(folder), certificate.ExportCertificatePem());
        File.WriteAllText(KeyOf(folder), key.ExportPkcs8PrivateKeyPem());
        return certificate;
    }

    /// <summary>The certificate alone: good as a file of roots too.</summary>
    internal static string PemOf(string folder) => Path.Combine(folder, "hub.pem");

    /// <summary>The configuration of a hub that shows it.</summary>
    internal static string[] Tokens(string folder) =>
        [$"--Kestrel:Certificates:Default:Path={PemOf(folder)}", $"--Kestrel:Certificates:Default:KeyPath={KeyOf(folder)}"];

    internal static bool IsSame(X509Certificate? shown, X509Certificate2 written) => shown?.GetCertHashString() == written.GetCertHashString();

    private static string KeyOf(string folder) => Path.Combine(folder, "hub.key");
}
