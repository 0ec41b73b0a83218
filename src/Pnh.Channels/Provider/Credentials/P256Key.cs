using System.Security.Cryptography;
using System.Text;

namespace Pnh.Channels.Provider.Credentials;

/// <summary>Private keys on P-256, which APNs and Web Push sign with.</summary>
internal static class P256Key
{
    private const string NistP256 = "1.2.840.10045.3.1.7";

    /// <summary>The key of a PEM file; null when it holds none, or one of another kind.</summary>
    public static ECDsa? Read(byte[] pem)
    {
        var key = ECDsa.Create();
        try
        {
            key.ImportFromPem(Encoding.UTF8.GetString(pem));
            if (key.ExportParameters(includePrivateParameters: true).Curve.Oid.Value == NistP256)
            {
                return key;
            }
        }
        catch (Exception exception) when (exception is CryptographicException or ArgumentException)
        {
            // The reader of the error needs to know what to put there, not which parser gave up.
        }

        key.Dispose();
        return null;
    }
}
