using Microsoft.Extensions.Configuration;
using Pnh.Channels.Http;

namespace Pnh.Channels.Fcm;

/// <summary>One configured Firebase project.</summary>
/// <param name="Name">Stable name, <c>demo/0</c>.</param>
/// <param name="App">The app it serves.</param>
/// <param name="SendAddress">Where messages are posted.</param>
/// <param name="Credential">Shared by every lane of the account.</param>
/// <param name="Connections">The most that each class may open.</param>
internal sealed record FcmAccount(string Name, string App, Uri SendAddress, FcmCredential Credential, int Connections);

/// <summary>Every FCM account of the configuration, read and judged once. Owns their credentials.</summary>
internal sealed class FcmAccounts : IConfigurationCheck, IDisposable
{
    /// <summary>Twenty connections of 100 streams are 20,000 messages a second at 100 ms each, twice the default quota of a project.</summary>
    private const int MaxConnections = 20;

    private readonly List<string> _errors = [];
    private readonly Dictionary<string, FcmAccount> _byName = new(StringComparer.Ordinal);
    private readonly Dictionary<string, FcmAccount> _byApp = new(StringComparer.Ordinal);

    public FcmAccounts(IConfiguration pnhSection, ProviderServices services)
    {
        foreach (var section in AccountSection.ReadAll(pnhSection, "Fcm", _errors))
        {
            Read(section, services);
        }
    }

    public void Check(ICollection<string> errors)
    {
        foreach (var error in _errors)
        {
            errors.Add(error);
        }
    }

    /// <summary>The account of an app; null when it has none.</summary>
    public FcmAccount? Find(string app) => _byApp.GetValueOrDefault(app);

    /// <summary>The account of this name; throws when there is none, since names come from <see cref="Find"/>.</summary>
    public FcmAccount Get(string name) =>
        _byName.GetValueOrDefault(name) ?? throw new ArgumentException($"There is no FCM account '{name}'.", nameof(name));

    public void Dispose()
    {
        foreach (var account in _byName.Values)
        {
            account.Credential.Dispose();
        }
    }

    private void Read(AccountSection section, ProviderServices services)
    {
        var address = section.Address("BaseAddress", "https://fcm.googleapis.com");
        var connections = section.Number("Connections", MaxConnections, 1, 100);
        var file = section.File("ServiceAccountFile");
        if (file is null)
        {
            return;
        }

        var serviceAccount = ServiceAccount.Read(file, out var problem);
        if (serviceAccount is null)
        {
            section.Fail("ServiceAccountFile", problem!);
        }
        else if (_byApp.ContainsKey(section.App))
        {
            // FCM tokens do not say which project they belong to, so a second project could never be chosen.
            section.Fail("", "an app has one FCM account");
            serviceAccount.Key.Dispose();
        }
        else if (section.IsValid)
        {
            var send = new Uri(address, $"/v1/projects/{Uri.EscapeDataString(serviceAccount.ProjectId)}/messages:send");
            var account = new FcmAccount(section.Name, section.App, send, new FcmCredential(serviceAccount, services), connections);
            _byName.Add(account.Name, account);
            _byApp.Add(account.App, account);
        }
        else
        {
            serviceAccount.Key.Dispose();
        }
    }
}
