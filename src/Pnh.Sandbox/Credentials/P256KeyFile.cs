using System.Security.Cryptography;

namespace Pnh.Sandbox.Credentials;

/// <summary>A file with a private key on P-256 (PKCS#8, PEM). Only the public half leaves it.</summary>
internal static class P256KeyFile
{
    private const string NistP256 = "1.2.840.10045.3.1.7";

    public static ECDsa Create(string path)
    {
        using ECDsa key = ECDsa.Create(ECCurve.NamedCurves.nistP256);
        PrivateFile.Write(path, key.ExportPkcs8PrivateKeyPem() + "\n");
        return PublicHalf(key);
    }

    public static ECDsa Parse(string path, string pem)
    {
        try
        {
            using ECDsa key = ECDsa.Create();
            key.ImportFromPem(pem);
            return key.ExportParameters(includePrivateParameters: true).Curve.Oid.Value == NistP256
                ? PublicHalf(key)
                : throw new CryptographicException("A key on P-256 expected.");
        }
        catch (Exception e) when (e is CryptographicException or ArgumentException)
        {
            throw PrivateFile.Damaged(path, e);
        }
    }

    private static ECDsa PublicHalf(ECDsa key) => ECDsa.Create(key.ExportParameters(includePrivateParameters: false));
}
