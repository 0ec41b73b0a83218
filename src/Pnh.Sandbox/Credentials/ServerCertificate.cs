using System.Net;
using System.Security.Cryptography;
using System.Security.Cryptography.X509Certificates;

namespace Pnh.Sandbox.Credentials;

/// <summary>
/// A CA of our own and the one certificate it signed. The CA's private key is forgotten at once, so trusting <c>ca.pem</c>
/// trusts this certificate and no other. <c>server.pem</c> holds key, certificate and CA; <c>ca.pem</c> is derived from it.
/// </summary>
internal sealed record ServerCertificate(X509Certificate2 Server, X509Certificate2 Ca)
{
    private const string FileName = "server.pem";
    private const int ValidDays = 730;
    private const int RenewDays = 7;

    public static ServerCertificate LoadOrCreate(string folder)
    {
        string path = Path.Combine(folder, FileName);
        string? pem = PrivateFile.Read(path);
        ServerCertificate? certificate = pem is null ? null : Parse(path, pem);
        if (certificate is null || certificate.Server.NotAfter < TimeProvider.System.GetLocalNow().AddDays(RenewDays).DateTime)
        {
            (certificate, pem) = Create();
            PrivateFile.Write(path, pem);
        }

        string caPath = Path.Combine(folder, SandboxCredentials.CaFileName);
        string caPem = certificate.Ca.ExportCertificatePem() + "\n";
        if (PrivateFile.Read(caPath) != caPem)
        {
            PrivateFile.Write(caPath, caPem);
        }

        return certificate;
    }

    private static ServerCertificate Parse(string path, string pem)
    {
        try
        {
            X509Certificate2 server = X509Certificate2.CreateFromPem(pem, pem);
            X509Certificate2Collection all = [];
            all.ImportFromPem(pem);
            return all.Count == 2 ? new ServerCertificate(server, all[1]) : throw new CryptographicException("Two certificates expected.");
        }
        catch (Exception e) when (e is CryptographicException or ArgumentException)
        {
            throw PrivateFile.Damaged(path, e);
        }
    }

    private static (ServerCertificate Certificate, string Pem) Create()
    {
        DateTimeOffset now = TimeProvider.System.GetUtcNow();
        DateTimeOffset from = now.AddHours(-1);
        DateTimeOffset until = now.AddDays(ValidDays);

        using ECDsa caKey = ECDsa.Create(ECCurve.NamedCurves.nistP256);
        CertificateRequest caRequest = new("CN=PNH sandbox CA", caKey, HashAlgorithmName.SHA256);
        caRequest.CertificateExtensions.Add(new X509BasicConstraintsExtension(true, true, 0, true));
        caRequest.CertificateExtensions.Add(new X509KeyUsageExtension(X509KeyUsageFlags.KeyCertSign, true));
        caRequest.CertificateExtensions.Add(new X509SubjectKeyIdentifierExtension(caRequest.PublicKey, false));
        using X509Certificate2 caWithKey = caRequest.CreateSelfSigned(from, until);
        X509Certificate2 ca = X509CertificateLoader.LoadCertificate(caWithKey.RawData);

        using ECDsa key = ECDsa.Create(ECCurve.NamedCurves.nistP256);
        CertificateRequest request = new("CN=localhost", key, HashAlgorithmName.SHA256);
        SubjectAlternativeNameBuilder names = new();
        names.AddDnsName("localhost");
        names.AddIpAddress(IPAddress.Loopback);
        names.AddIpAddress(IPAddress.IPv6Loopback);
        request.CertificateExtensions.Add(names.Build());
        request.CertificateExtensions.Add(new X509BasicConstraintsExtension(false, false, 0, true));
        request.CertificateExtensions.Add(new X509KeyUsageExtension(X509KeyUsageFlags.DigitalSignature, true));
        request.CertificateExtensions.Add(new X509EnhancedKeyUsageExtension([new Oid("1.3.6.1.5.5.7.3.1")], false));
        request.CertificateExtensions.Add(X509AuthorityKeyIdentifierExtension.CreateFromCertificate(ca, true, false));
        using X509Certificate2 bare = request.Create(caWithKey, from, until, RandomNumberGenerator.GetBytes(16));

        string pem = $"{key.ExportPkcs8PrivateKeyPem()}\n{bare.ExportCertificatePem()}\n{ca.ExportCertificatePem()}\n";
        return (new ServerCertificate(X509Certificate2.CreateFromPem(pem, pem), ca), pem);
    }
}
