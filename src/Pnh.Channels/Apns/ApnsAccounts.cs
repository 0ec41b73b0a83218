using System.Security.Cryptography;
using Microsoft.Extensions.Configuration;
using Pnh.Channels.Http;

namespace Pnh.Channels.Apns;

/// <summary>One configured APNs account: a topic of a team in one environment.</summary>
/// <param name="Name">Stable name, <c>demo/0</c>.</param>
/// <param name="App">The app it serves.</param>
/// <param name="Topic">Bundle id, without any suffix.</param>
/// <param name="Environment"><c>production</c> or <c>sandbox</c>.</param>
/// <param name="BaseAddress">Where to connect.</param>
/// <param name="Credential">Shared by every account with the same team and key: Apple counts new tokens per key, not per topic.</param>
/// <param name="Connections">The most that each class may open.</param>
internal sealed record ApnsAccount(string Name, string App, string Topic, string Environment, Uri BaseAddress, ApnsCredential Credential, int Connections);

/// <summary>Every APNs account of the configuration, read and judged once. Immutable.</summary>
internal sealed class ApnsAccounts : IConfigurationCheck
{
    public const string Production = "production";
    public const string Sandbox = "sandbox";

    /// <summary>Eight connections of 100 streams are 16,000 pushes a second at 50 ms each.</summary>
    private const int MaxConnections = 8;

    private const string NistP256 = "1.2.840.10045.3.1.7";

    private readonly List<string> _errors = [];
    private readonly Dictionary<string, ApnsAccount> _byName = new(StringComparer.Ordinal);
    private readonly Dictionary<(string App, string Scope), ApnsAccount> _byScope = [];
    private readonly Dictionary<(string Team, string Key), ApnsCredential> _credentials = [];
    private readonly TimeProvider _time;

    public ApnsAccounts(IConfiguration pnhSection, TimeProvider time)
    {
        _time = time;
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

    private ApnsAccount? Read(AccountSection section)
    {
        var team = Identifier(section, "TeamId");
        var key = Identifier(section, "KeyId");
        var topic = section.Required("Topic");
        var environment = section.Optional("Environment") ?? Production;
        if (environment is not (Production or Sandbox))
        {
            section.Fail("Environment", "must be production or sandbox");
        }

        var address = section.Address(
            "BaseAddress", environment == Sandbox ? "https://api.sandbox.push.apple.com" : "https://api.push.apple.com");
        var connections = section.Number("Connections", MaxConnections, 1, 100);
        var credential = Credential(section, team, key);
        return credential is null || !section.IsValid
            ? null
            : new ApnsAccount(section.Name, section.App, topic, environment, address, credential, connections);
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
        if (value.Length > 0 && (value.Length != 10 || !value.All(char.IsAsciiLetterOrDigit)))
        {
            section.Fail(key, "must be 10 letters and digits");
        }

        return value;
    }

    private ApnsCredential? Credential(AccountSection section, string team, string key)
    {
        if (section.File("KeyFile") is not { } pem)
        {
            return null;
        }

        if (_credentials.TryGetValue((team, key), out var known))
        {
            return known;
        }

        var signer = ECDsa.Create();
        try
        {
            signer.ImportFromPem(pem);
            if (signer.ExportParameters(includePrivateParameters: true).Curve.Oid.Value == NistP256)
            {
                return _credentials[(team, key)] = new ApnsCredential(team, key, signer, _time);
            }
        }
        catch (Exception exception) when (exception is CryptographicException or ArgumentException)
        {
            // Said below: the reader needs to know what to put there, not which parser gave up.
        }

        signer.Dispose();
        section.Fail("KeyFile", "not a PEM file with a P-256 private key (the .p8 file from Apple)");
        return null;
    }
}
