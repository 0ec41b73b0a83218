using System.Security.Cryptography;
using System.Text;
using Microsoft.Extensions.Configuration;
using Microsoft.Extensions.Logging;
using Pnh.Channels.Provider.Connections;
using Pnh.Channels.Provider.Credentials;
using Pnh.Channels.Provider.Payloads;
using Pnh.Channels.Provider.Sender;

namespace Pnh.Channels.Apns;

/// <summary>One configured APNs account: a topic of a team in one environment.</summary>
/// <param name="Name">Stable name, <c>demo/0</c>.</param>
/// <param name="App">The app it serves.</param>
/// <param name="Topic">Bundle id, without any suffix.</param>
/// <param name="Environment"><c>production</c> or <c>sandbox</c>.</param>
/// <param name="BaseAddress">Where to connect.</param>
/// <param name="Identity">A key is shared by every account with the same team and key id: Apple counts new tokens per key, not per topic.</param>
/// <param name="Connections">The most that each class may open.</param>
/// <param name="Devices">Keeps the silence that Apple asks for a device.</param>
/// <param name="TopicStop">Holds deliveries back while Apple refuses the topic.</param>
internal sealed record ApnsAccount(
    string Name, string App, string Topic, string Environment, Uri BaseAddress, ApnsIdentity Identity, int Connections, DevicePace Devices, ConfigurationStop TopicStop);

/// <summary>
/// Every APNs account of the configuration, read and judged once; keys and certificates are read again when their files change, or what the configuration
/// says of them: a new key has a new id and, as a rule, a new file. Everything else of an account is as it was at start. Owns them.
/// </summary>
internal sealed class ApnsAccounts : IConfigurationCheck, IDisposable
{
    public const string Production = "production";
    public const string Sandbox = "sandbox";

    /// <summary>Eight connections of 100 streams are 16,000 pushes a second at 50 ms each.</summary>
    private const int MaxConnections = 8;

    private const string NistP256 = "1.2.840.10045.3.1.7";
    private const string NotAnIdentifier = "must be 10 letters and digits";
    private const string NotAKey = "not a PEM file with a P-256 private key (the .p8 file from Apple)";

    private readonly List<string> _errors = [];
    private readonly Dictionary<string, ApnsAccount> _byName = new(StringComparer.Ordinal);
    private readonly Dictionary<(string App, string Scope), ApnsAccount> _byScope = [];
    private readonly Dictionary<(string Team, string Key), (ApnsCredential Credential, List<AccountSection> Accounts)> _credentials = [];
    private readonly List<IDisposable> _owned = [];
    private readonly ProviderServices _services;

    public ApnsAccounts(IConfiguration pnhSection, ProviderServices services)
    {
        _services = services;
        foreach (var section in AccountSection.ReadAll(pnhSection, "Apns", _errors))
        {
            if (Read(section) is { } account)
            {
                Add(section, account);
            }
        }
    }

    public void Check(ICollection<string> errors)
    {
        foreach (var error in _errors)
        {
            errors.Add(error);
        }
    }

    /// <summary>The account for an address of this scope; null when the app has none.</summary>
    public ApnsAccount? Find(string app, string scope) => _byScope.GetValueOrDefault((app, scope));

    /// <summary>The account of this name; throws when there is none, since names come from <see cref="Find"/>.</summary>
    public ApnsAccount Get(string name) =>
        _byName.GetValueOrDefault(name) ?? throw new ArgumentException($"There is no APNs account '{name}'.", nameof(name));

    public void Dispose()
    {
        _owned.ForEach(static one => one.Dispose());
        _owned.Clear();
    }

    private ApnsAccount? Read(AccountSection section)
    {
        var byCertificate = section.Optional("CertificateFile") is not null;
        var team = byCertificate ? "" : Identifier(section, "TeamId");
        var key = byCertificate ? "" : Identifier(section, "KeyId");
        var topic = section.Required("Topic");
        var environment = section.Optional("Environment") ?? Production;
        if (environment is not (Production or Sandbox))
        {
            section.Fail("Environment", "must be production or sandbox");
        }

        var address = section.Address(
            "BaseAddress", environment == Sandbox ? "https://api.sandbox.push.apple.com" : "https://api.push.apple.com");
        var connections = section.Number("Connections", MaxConnections, 1, 100);
        ApnsIdentity? identity = byCertificate ? Certificate(section) : Credential(section, team, key);
        return identity is null || !section.IsValid
            ? null
            : new ApnsAccount(section.Name, section.App, topic, environment, address, identity, connections, new DevicePace(0, _services.Time), new ConfigurationStop(_services.Time));
    }

    private void Add(AccountSection section, ApnsAccount account)
    {
        if (!_byScope.TryAdd((account.App, ApnsAddress.Scope(account.Environment, account.Topic)), account))
        {
            section.Fail("Topic", $"another account of the app has topic {account.Topic} in {account.Environment} already");
            return;
        }

        // A device that names no topic means its app's first account in the environment.
        _byScope.TryAdd((account.App, ApnsAddress.Scope(account.Environment, "")), account);
        _byName.Add(account.Name, account);
    }

    /// <summary>Team and key ids are 10 letters and digits (Apple: Establishing a token-based connection to APNs).</summary>
    private static string Identifier(AccountSection section, string key)
    {
        var value = section.Required(key);
        if (value.Length > 0 && !IsIdentifier(value))
        {
            section.Fail(key, NotAnIdentifier);
        }

        return value;
    }

    private static bool IsIdentifier(string value) => value.Length == 10 && value.All(char.IsAsciiLetterOrDigit);

    private ApnsCredential? Credential(AccountSection section, string team, string key)
    {
        if (section.FileBytes("KeyFile") is not { } bytes)
        {
            return null;
        }

        if (_credentials.TryGetValue((team, key), out var known))
        {
            known.Accounts.Add(section);
            return known.Credential;
        }

        if (Signer(bytes) is not { } signer)
        {
            section.Fail("KeyFile", NotAKey);
            return null;
        }

        var credential = new ApnsCredential(team, key, signer, _services.Time);
        List<AccountSection> accounts = [section];
        _credentials[(team, key)] = (credential, accounts);
        Own(section, "KeyFile", Ids, bytes, credential, fresh => Take(credential, accounts, fresh));
        return credential;

        // Distinct: accounts that join later with the same ids change nothing.
        string Ids() => string.Join(' ', accounts.Select(static one => $"{one.Optional("TeamId")}/{one.Optional("KeyId")}").Distinct());
    }

    /// <summary>One key that several accounts use changes for all of them, or for none.</summary>
    private static string? Take(ApnsCredential credential, List<AccountSection> accounts, byte[] fresh)
    {
        var (team, key) = (accounts[0].Optional("TeamId") ?? "", accounts[0].Optional("KeyId") ?? "");
        if (!IsIdentifier(team) || !IsIdentifier(key))
        {
            return "TeamId and KeyId " + NotAnIdentifier;
        }

        foreach (var other in accounts)
        {
            if (other.Optional("TeamId") != team || other.Optional("KeyId") != key)
            {
                return $"account {other.Name} has the same key and names another TeamId or KeyId; change both, or restart";
            }
        }

        if (Signer(fresh) is not { } signer)
        {
            return NotAKey;
        }

        credential.Take(team, key, signer);
        return null;
    }

    private ApnsCertificate? Certificate(AccountSection section)
    {
        foreach (var other in (ReadOnlySpan<string>)["TeamId", "KeyId", "KeyFile"])
        {
            if (section.Optional(other) is not null)
            {
                section.Fail(other, "an account has a key or a certificate, not both");
            }
        }

        if (section.FileBytes("CertificateFile") is not { } bytes)
        {
            return null;
        }

        var certificate = ApnsCertificate.Read(
            bytes, section.Optional("CertificatePassword"), section.Name, _services.Time, _services.Loggers.CreateLogger<ApnsCertificate>(), out var problem);
        if (certificate is null)
        {
            section.Fail("CertificateFile", problem!);
            return null;
        }

        Own(section, "CertificateFile", Password, bytes, certificate, fresh => certificate.Take(fresh, section.Optional("CertificatePassword")));
        return certificate;

        string Password() => section.Optional("CertificatePassword") ?? "";
    }

    private void Own(AccountSection section, string key, Func<string> ids, byte[] bytes, ApnsIdentity identity, Func<byte[], string?> take)
    {
        _owned.Add(new CredentialFile(() => section.Optional(key), ids, bytes, section.Name, take, _services));
        _owned.Add(identity);
        _services.Gauges.AddCredential(section.Name, () => identity.Left);
    }

    private static ECDsa? Signer(byte[] pem)
    {
        var signer = ECDsa.Create();
        try
        {
            signer.ImportFromPem(Encoding.UTF8.GetString(pem));
            if (signer.ExportParameters(includePrivateParameters: true).Curve.Oid.Value == NistP256)
            {
                return signer;
            }
        }
        catch (Exception exception) when (exception is CryptographicException or ArgumentException)
        {
            // The reader needs to know what to put there, not which parser gave up.
        }

        signer.Dispose();
        return null;
    }
}
