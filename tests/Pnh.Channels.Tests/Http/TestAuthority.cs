using System.Security.Cryptography;
using System.Security.Cryptography.X509Certificates;

namespace Pnh.Channels.Tests.Http;

/// <summary>A certificate authority made for the run of the tests, and server certificates from it.</summary>
internal static class TestAuthority
{
    private static readonly DateTimeOffset From = TimeProvider.System.GetUtcNow().AddDays(-1);

    public static X509Certificate2 Certificate { get; } = CreateAuthority("CN=PNH test authority");

    public static X509Certificate2 Localhost { get; } = Issue(Certificate, "localhost");

    public static X509Certificate2 CreateAuthority(string name)
    {
        using var key = ECDsa.Create(ECCurve.NamedCurves.nistP256);
        var request = new CertificateRequest(name, key, HashAlgorithmName.SHA256);
        request.CertificateExtensions.Add(new X509BasicConstraintsExtension(true, false, 0, true));
        request.CertificateExtensions.Add(new X509KeyUsageExtension(X509KeyUsageFlags.KeyCertSign, true));
        return request.CreateSelfSigned(From, From.AddDays(30));
    }

    public static X509Certificate2 Issue(X509Certificate2 authority, string host)
    {
        using var key = ECDsa.Create(ECCurve.NamedCurves.nistP256);
        var request = new CertificateRequest($"CN={host}", key, HashAlgorithmName.SHA256);
        var names = new SubjectAlternativeNameBuilder();
        names.AddDnsName(host);
        request.CertificateExtensions.Add(names.Build());
        request.CertificateExtensions.Add(new X509EnhancedKeyUsageExtension([new Oid("1.3.6.1.5.5.7.3.1")], false));
        using var signed = request.Create(authority, From, From.AddDays(20), RandomNumberGenerator.GetBytes(8));
        using var withKey = signed.CopyWithPrivateKey(key);
        return X509CertificateLoader.LoadPkcs12(withKey.Export(X509ContentType.Pkcs12), null);
    }
}
