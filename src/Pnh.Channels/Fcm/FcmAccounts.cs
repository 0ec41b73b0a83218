using System.Text;
using Microsoft.Extensions.Configuration;
using Pnh.Channels.Provider.Connections;
using Pnh.Channels.Provider.Credentials;
using Pnh.Channels.Provider.Payloads;
using Pnh.Channels.Provider.Sender;

namespace Pnh.Channels.Fcm;

/// <summary>One configured Firebase project.</summary>
/// <param name="Name">Stable name, <c>demo/0</c>.</param>
/// <param name="App">The app it serves.</param>
/// <param name="Project">The project's id: what a device names when its app uses more than one.</param>
/// <param name="SendAddress">Where messages are posted.</param>
/// <param name="Credential">Shared by every lane of the account.</param>
/// <param name="Connections">The most that each class may open.</param>
/// <param name="Pace">Of the whole project: all its lanes share it, and so do other apps' accounts of the same project.</param>
/// <param name="Devices">Of each device.</param>
/// <param name="CollapseKeys">Of each device.</param>
internal sealed record FcmAccount(
    string Name, string App, string Project, Uri SendAddress, FcmCredential Credential, int Connections, FcmPace Pace, DevicePace Devices, FcmCollapseKeys CollapseKeys);

/// <summary>Every FCM account of the configuration, read and judged once; service accounts are read again when their files change. Owns them.</summary>
internal sealed class FcmAccounts : IConfigurationCheck, IDisposable
{
    /// <summary>What Android takes of one app (FCM: throttling and quotas).</summary>
    private const int PerDeviceAndMinute = 240;

    private readonly List<string> _errors = [];
    private readonly Dictionary<string, FcmAccount> _byName = new(StringComparer.Ordinal);
    private readonly Dictionary<(string App, string Project), FcmAccount> _byProject = [];
    private readonly Dictionary<Uri, (FcmPace Pace, int PerMinute, string Account)> _paces = [];
    private readonly List<CredentialFile> _files = [];

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

    /// <summary>In no order.</summary>
    public IReadOnlyCollection<FcmAccount> All => _byName.Values;

    /// <summary>The account of an app for a project; an empty one is its first account's. Null when the app has none.</summary>
    public FcmAccount? Find(string app, string project) => _byProject.GetValueOrDefault((app, project));

    /// <summary>The account of this name; throws when there is none, since names come from <see cref="Find"/>.</summary>
    public FcmAccount Get(string name) =>
        _byName.GetValueOrDefault(name) ?? throw new ArgumentException($"There is no FCM account '{name}'.", nameof(name));

    public void Dispose()
    {
        _files.ForEach(static file => file.Dispose());
        foreach (var account in _byName.Values)
        {
            account.Credential.Dispose();
        }
    }

    private void Read(AccountSection section, ProviderServices services)
    {
        var settings = section.Read(static one => one.Get<FcmSettings>(), new FcmSettingsRules());
        var address = section.IsValid && settings.BaseAddress is { } own ? own : "https://fcm.googleapis.com";
        if (section.FileBytes(nameof(settings.ServiceAccountFile), settings.ServiceAccountFile) is not { } bytes)
        {
            return;
        }

        var serviceAccount = ServiceAccount.Read(Encoding.UTF8.GetString(bytes), out var problem);
        if (serviceAccount is null)
        {
            section.Fail(nameof(settings.ServiceAccountFile), problem!);
            return;
        }

        if (_byProject.ContainsKey((section.App, serviceAccount.ProjectId)))
        {
            section.Fail(nameof(settings.ServiceAccountFile), $"another account of the app has project {serviceAccount.ProjectId} already");
        }

        var send = new Uri(new Uri(address), $"/v1/projects/{Uri.EscapeDataString(serviceAccount.ProjectId)}/messages:send");
        var pace = PaceOf(section, send, settings.MessagesPerMinute, services.Time);
        if (!section.IsValid)
        {
            serviceAccount.Key.Dispose();
            return;
        }

        Add(section, bytes, new FcmAccount(
            section.Name, section.App, serviceAccount.ProjectId, send, new FcmCredential(serviceAccount, services), settings.Connections,
            pace, new DevicePace(PerDeviceAndMinute, services.Time), new FcmCollapseKeys(services.Time)), services);
        services.Gauges.AddOrigin(serviceAccount.TokenAddress);
    }

    // Google counts by project, whichever app a message is for: two paces would be twice the quota.
    private FcmPace PaceOf(AccountSection section, Uri send, int perMinute, TimeProvider time)
    {
        if (!_paces.TryGetValue(send, out var known))
        {
            known = (new FcmPace(perMinute, time), perMinute, section.Name);
            _paces.Add(send, known);
        }
        else if (known.PerMinute != perMinute)
        {
            section.Fail(nameof(FcmSettings.MessagesPerMinute), $"account {known.Account} has {known.PerMinute} for the same project, which has one quota");
        }

        return known.Pace;
    }

    private void Add(AccountSection section, byte[] bytes, FcmAccount account, ProviderServices services)
    {
        _byName.Add(account.Name, account);
        _byProject.Add((account.App, account.Project), account);

        // A device that names no project means its app's first account.
        _byProject.TryAdd((account.App, ""), account);
        _files.Add(new CredentialFile(() => section.Now(nameof(FcmSettings.ServiceAccountFile)), static () => "", bytes, account.Name, fresh => Take(account, fresh), services));
        services.Gauges.AddCredential(account.Name, () => account.Credential.Left);
        services.Gauges.AddOrigin(account.SendAddress);
    }

    private static string? Take(FcmAccount account, byte[] fresh)
    {
        if (ServiceAccount.Read(Encoding.UTF8.GetString(fresh), out var problem) is not { } read)
        {
            return problem;
        }

        if (read.ProjectId == account.Project)
        {
            account.Credential.Take(read);
            return null;
        }

        // Addresses belong to a project: another one needs a restart, and its devices.
        read.Key.Dispose();
        return $"it is for project {read.ProjectId}";
    }
}
