using System.Net.Security;
using System.Security.Cryptography;
using System.Security.Cryptography.X509Certificates;
using System.Text;

namespace Pnh.Api.Listeners;

/// <summary>A certificate's files as they were at one moment.</summary>
/// <param name="Certificate">PKCS#12, or a certificate with those of its chain (PEM).</param>
/// <param name="Key">The key in a file of its own (PEM); null = the certificate's file has it.</param>
/// <param name="Password">Of the file with the key; null = none.</param>
internal readonly record struct CertificateFiles(byte[] Certificate, byte[]? Key, string? Password)
{
    /// <summary>Reads what a section names with Path, KeyPath and Password. Faults pass <see cref="IsFault"/>.</summary>
    public static CertificateFiles Read(IConfigurationSection section, string folder) => new(
        File.ReadAllBytes(Path.Combine(folder, section["Path"]!)),
        section["KeyPath"] is { Length: > 0 } key ? File.ReadAllBytes(Path.Combine(folder, key)) : null,
        section["Password"] is { Length: > 0 } password ? password : null);

    /// <summary>What reading and opening throws.</summary>
    public static bool IsFault(Exception fault) => fault is CryptographicException or ArgumentException or IOException or UnauthorizedAccessException;

    /// <summary>Others have another one.</summary>
    public byte[] Hash()
    {
        using var hash = IncrementalHash.CreateHash(HashAlgorithmName.SHA256);
        hash.AppendData(Certificate);
        hash.AppendData(Key ?? []);
        return hash.GetHashAndReset();
    }

    /// <summary>The certificate with its key. Faults pass <see cref="IsFault"/>.</summary>
    public X509Certificate2 Open()
    {
        if (Key is null)
        {
            return X509CertificateLoader.LoadPkcs12(Certificate, Password);
        }

        using var certificate = X509CertificateLoader.LoadCertificate(Certificate);
        var key = Encoding.UTF8.GetString(Key);
        return Password is not null
            ? X509Certificate2.CreateFromEncryptedPem(certificate.ExportCertificatePem(), key, Password)
            : X509Certificate2.CreateFromPem(certificate.ExportCertificatePem(), key);
    }

    /// <summary>The same with its chain, as handshakes show it.</summary>
    public SslStreamCertificateContext OpenWithChain()
    {
        var chain = new X509Certificate2Collection();
        if (Key is null)
        {
            chain = X509CertificateLoader.LoadPkcs12Collection(Certificate, Password);
        }
        else if (X509Certificate2.GetCertContentType(Certificate) == X509ContentType.Cert)
        {
            chain.ImportFromPem(Encoding.UTF8.GetString(Certificate));
        }

        return SslStreamCertificateContext.Create(Open(), chain, offline: true);
    }
}
