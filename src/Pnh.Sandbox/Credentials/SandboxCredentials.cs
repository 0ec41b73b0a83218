using System.Collections.Concurrent;
using System.Security.Cryptography;
using System.Security.Cryptography.X509Certificates;
using Pnh.Sandbox.Contract;

namespace Pnh.Sandbox.Credentials;

/// <summary>
/// The keys and certificates of the stand-ins: made on first use, mode 0600, kept across restarts. Names and paths only:
/// the private halves stay in their files. Thread-safe.
/// </summary>
public sealed class SandboxCredentials
{
    internal const string CaFileName = "ca.pem";
    internal const string ServiceAccountFileName = "service-account.json";

    private readonly ConcurrentDictionary<string, ApnsKey> _apnsKeys = new(StringComparer.Ordinal);
    private readonly ApnsKey _apnsKey;

    private SandboxCredentials(string folder, ServerCertificate certificate, ApnsKey apnsKey, SandboxServiceAccount account,
        BrowserKeys browsers)
    {
        Folder = folder;
        Certificate = certificate;
        Account = account;
        Browsers = browsers;
        _apnsKey = apnsKey;
        _apnsKeys[apnsKey.KeyId] = apnsKey;
    }

    /// <summary>Full path of the folder.</summary>
    public string Folder { get; }

    /// <summary>PEM file of the CA, good as <c>SSL_CERT_FILE</c>.</summary>
    public string CaFile => Path.Combine(Folder, CaFileName);

    /// <summary>Ten characters.</summary>
    public string TeamId => _apnsKey.TeamId;

    /// <summary>Ten characters.</summary>
    public string KeyId => _apnsKey.KeyId;

    /// <summary>PKCS#8 PEM, named as Apple names it.</summary>
    public string KeyFile => ApnsKeyFile.PathOf(Folder, KeyId);

    /// <summary>JSON in Google's shape; <c>token_uri</c> points at the stand-in.</summary>
    public string ServiceAccountFile => Account.Path;

    /// <summary>Project of the service account.</summary>
    public string ProjectId => Account.ProjectId;

    /// <summary>PKCS#8 PEM: the VAPID key that every browser's subscription is bound to.</summary>
    public string VapidKeyFile => Path.Combine(Folder, BrowserKeys.VapidFileName);

    /// <summary>The CA alone, without its private key, which nobody has.</summary>
    public X509Certificate2 CaCertificate => Certificate.Ca;

    internal ServerCertificate Certificate { get; }

    internal SandboxServiceAccount Account { get; }

    internal BrowserKeys Browsers { get; }

    /// <summary>
    /// Makes another provider key known until the process ends: a second team, a key of one environment
    /// (<paramref name="environment"/>, null for both), or a topic-specific one (<paramref name="topics"/>, null for team-scoped).
    /// </summary>
    public void TrustApnsKey(string teamId, string keyId, ECDsa publicKey, ApnsEnvironment? environment = null,
        IReadOnlyCollection<string>? topics = null)
    {
        ArgumentNullException.ThrowIfNull(publicKey);
        ECDsa copy = ECDsa.Create(publicKey.ExportParameters(includePrivateParameters: false));
        _apnsKeys[keyId] = new ApnsKey(teamId, keyId, copy, environment, topics);
    }

    internal static SandboxCredentials LoadOrCreate(string folder)
    {
        folder = Path.GetFullPath(folder);
        PrivateFile.CreateFolder(folder);
        return new SandboxCredentials(folder, ServerCertificate.LoadOrCreate(folder), ApnsKeyFile.LoadOrCreate(folder),
            SandboxServiceAccount.LoadOrCreate(folder), BrowserKeys.LoadOrCreate(folder));
    }

    internal ApnsKey? FindApnsKey(string keyId) => _apnsKeys.GetValueOrDefault(keyId);
}
