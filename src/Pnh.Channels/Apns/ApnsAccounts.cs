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
    string Name, string App, string Topic, string Environment, Uri BaseAddress, ApnsIdentity Identity, int Connections, DevicePace Devices, ConfigurationStop TopicStop)
{
    /// <summary>Times of its live activities.</summary>
    public ActivityTimes Activities { get; } = new();
}

/// <summary>
/// Every APNs account of the configuration, read and judged once; keys and certificates are read again when their files change, or what the configuration
/// says of them: a new key has a new id and, as a rule, a new file. Everything else of an account is as it was at start. Owns them.
/// </summary>
internal sealed class ApnsAccounts : IConfigurationCheck, IDisposable
{
    public const string Production = "production";
    public const string Sandbox = "sandbox";

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

    /// <summary>In no order.</summary>
    public IReadOnlyCollection<ApnsAccount> All => _byName.Values;

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
        var settings = section.Read(static one => one.Get<ApnsSettings>(), new ApnsSettingsRules());
        var topic = section.Required(nameof(settings.Topic), settings.Topic);
        var environment = settings.Environment ?? Production;
        if (environment is not (Production or Sandbox))
        {
            section.Fail(nameof(settings.Environment), "must be production or sandbox");
        }

        ApnsIdentity? identity = settings.CertificateFile is null ? Credential(section, settings) : Certificate(section, settings);
        if (identity is null || !section.IsValid)
        {
            return null;
        }

        var address = new Uri(settings.BaseAddress ?? (environment == Sandbox ? "https://api.sandbox.push.apple.com" : "https://api.push.apple.com"));
        return new ApnsAccount(
            section.Name, section.App, topic, environment, address, identity, settings.Connections, new DevicePace(0, _services.Time), new ConfigurationStop(_services.Time));
    }

    private void Add(AccountSection section, ApnsAccount account)
    {
        if (!_byScope.TryAdd((account.App, ApnsAddress.Scope(account.Environment, account.Topic)), account))
        {
            section.Fail(nameof(ApnsSettings.Topic), $"another account of the app has topic {account.Topic} in {account.Environment} already");
            return;
        }

        // A device that names no topic means its app's first account in the environment.
        _byScope.TryAdd((account.App, ApnsAddress.Scope(account.Environment, "")), account);
        _byName.Add(account.Name, account);
        _services.Gauges.AddOrigin(account.BaseAddress);
    }

    /// <summary>Team and key ids are 10 letters and digits (Apple: Establishing a token-based connection to APNs).</summary>
    private static string Identifier(AccountSection section, string key, string? given)
    {
        var value = section.Required(key, given);
        if (value.Length > 0 && !IsIdentifier(value))
        {
            section.Fail(key, NotAnIdentifier);
        }

        return value;
    }

    private static bool IsIdentifier(string value) => value.Length == 10 && value.All(char.IsAsciiLetterOrDigit);

    private ApnsCredential? Credential(AccountSection section, ApnsSettings settings)
    {
        var team = Identifier(section, nameof(settings.TeamId), settings.TeamId);
        var key = Identifier(section, nameof(settings.KeyId), settings.KeyId);
        if (section.FileBytes(nameof(settings.KeyFile), settings.KeyFile) is not { } bytes)
        {
            return null;
        }

        if (_credentials.TryGetValue((team, key), out var known))
        {
            known.Accounts.Add(section);
            return known.Credential;
        }

        if (P256Key.Read(bytes) is not { } signer)
        {
            section.Fail(nameof(settings.KeyFile), NotAKey);
            return null;
        }

        var credential = new ApnsCredential(team, key, signer, _services.Time, _services.Loggers.CreateLogger<ApnsCredential>());
        List<AccountSection> accounts = [section];
        _credentials[(team, key)] = (credential, accounts);
        Own(section, nameof(settings.KeyFile), Ids, bytes, credential, fresh => Take(credential, accounts, fresh));
        return credential;

        // Distinct: accounts that join later with the same ids change nothing.
        string Ids() => string.Join(' ', accounts.Select(static one => $"{one.Now(nameof(ApnsSettings.TeamId))}/{one.Now(nameof(ApnsSettings.KeyId))}").Distinct());
    }

    /// <summary>One key that several accounts use changes for all of them, or for none.</summary>
    private static string? Take(ApnsCredential credential, List<AccountSection> accounts, byte[] fresh)
    {
        var (team, key) = (accounts[0].Now(nameof(ApnsSettings.TeamId)) ?? "", accounts[0].Now(nameof(ApnsSettings.KeyId)) ?? "");
        if (!IsIdentifier(team) || !IsIdentifier(key))
        {
            return "TeamId and KeyId " + NotAnIdentifier;
        }

        foreach (var other in accounts)
        {
            if (other.Now(nameof(ApnsSettings.TeamId)) != team || other.Now(nameof(ApnsSettings.KeyId)) != key)
            {
                return $"account {other.Name} has the same key and names another TeamId or KeyId; change both, or restart";
            }
        }

        if (P256Key.Read(fresh) is not { } signer)
        {
            return NotAKey;
        }

        credential.Take(team, key, signer);
        return null;
    }

    private ApnsCertificate? Certificate(AccountSection section, ApnsSettings settings)
    {
        foreach (var (other, value) in ((string, string?)[])[
            (nameof(settings.TeamId), settings.TeamId), (nameof(settings.KeyId), settings.KeyId), (nameof(settings.KeyFile), settings.KeyFile)])
        {
            if (value is not null)
            {
                section.Fail(other, "an account has a key or a certificate, not both");
            }
        }

        if (section.FileBytes(nameof(settings.CertificateFile), settings.CertificateFile) is not { } bytes)
        {
            return null;
        }

        var certificate = ApnsCertificate.Read(
            bytes, settings.CertificatePassword, section.Name, _services.Time, _services.Loggers.CreateLogger<ApnsCertificate>(), out var problem);
        if (certificate is null)
        {
            section.Fail(nameof(settings.CertificateFile), problem!);
            return null;
        }

        Own(section, nameof(settings.CertificateFile), Password, bytes, certificate, fresh => certificate.Take(fresh, section.Now(nameof(ApnsSettings.CertificatePassword))));
        return certificate;

        string Password() => section.Now(nameof(ApnsSettings.CertificatePassword)) ?? "";
    }

    private void Own(AccountSection section, string key, Func<string> ids, byte[] bytes, ApnsIdentity identity, Func<byte[], string?> take)
    {
        _owned.Add(new CredentialFile(() => section.Now(key), ids, bytes, section.Name, take, _services));
        _owned.Add(identity);
        _services.Gauges.AddCredential(section.Name, () => identity.Left);
    }
}
