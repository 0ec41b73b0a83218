using System.Security.Cryptography;
using Microsoft.Extensions.Configuration;
using Pnh.Channels.Provider.Credentials;
using Pnh.Channels.Provider.Payloads;

namespace Pnh.Channels.WebPush;

/// <summary>The way from one app to one push service: what a lane belongs to, so that a push service that hangs holds up nobody else's.</summary>
/// <param name="Name">Stable name, <c>demo/0/fcm.googleapis.com</c>.</param>
/// <param name="Host">Where it may post.</param>
/// <param name="Credential">Shared by all routes of the account.</param>
/// <param name="AllowLoopback">Endpoints on this machine may be dialled (sandbox and tests).</param>
/// <param name="ClearText">What Apple's browsers show in place of a cleared event; null = it cannot be cleared there.</param>
/// <param name="Site">The page that a click opens where a browser shows pushes without a service worker; null = none does.</param>
/// <param name="Pace">How many pushes the push service takes of the account.</param>
internal sealed record WebPushRoute(string Name, PushServiceHost Host, VapidCredential Credential, bool AllowLoopback, string? ClearText, Uri? Site, SitePace Pace)
{
    /// <summary>Of this push service.</summary>
    public RefusedSubscriptions Refused { get; } = new();
}

/// <summary>Every Web Push account of the configuration, read and judged once. Owns their credentials.</summary>
internal sealed class WebPushAccounts : IWebPushKeys, IConfigurationCheck, IDisposable
{
    private const int MaxClearCharacters = 100;

    private readonly List<string> _errors = [];
    private readonly List<string> _refusedByApple = [];
    private readonly Dictionary<string, WebPushRoute> _byName = new(StringComparer.Ordinal);
    private readonly Dictionary<string, WebPushRoute[]> _byApp = new(StringComparer.Ordinal);

    public WebPushAccounts(IConfiguration pnhSection, TimeProvider time)
    {
        foreach (var section in AccountSection.ReadAll(pnhSection, "WebPush", _errors))
        {
            Read(section, time);
        }
    }

    public void Check(ICollection<string> errors)
    {
        foreach (var error in _errors)
        {
            errors.Add(error);
        }
    }

    public void CheckUse(ICollection<string> errors)
    {
        foreach (var line in _refusedByApple)
        {
            errors.Add(line);
        }
    }

    /// <inheritdoc/>
    public string? FindKey(string app) => _byApp.GetValueOrDefault(app)?.FirstOrDefault()?.Credential.PublicKey;

    /// <inheritdoc/>
    public byte[]? FindMac(string app, ReadOnlySpan<byte> text) => _byApp.GetValueOrDefault(app)?.FirstOrDefault()?.Credential.Mac(text);

    /// <summary>The route of an app to an endpoint; null when the app has none.</summary>
    public WebPushRoute? Find(string app, Uri endpoint)
    {
        foreach (var route in _byApp.GetValueOrDefault(app) ?? [])
        {
            if (route.Host.Covers(endpoint))
            {
                return route;
            }
        }

        return null;
    }

    /// <summary>The route of this name; throws when there is none, since names come from <see cref="Find"/>.</summary>
    public WebPushRoute Get(string name) =>
        _byName.GetValueOrDefault(name) ?? throw new ArgumentException($"There is no Web Push account '{name}'.", nameof(name));

    public void Dispose()
    {
        foreach (var route in _byName.Values)
        {
            route.Credential.Dispose();
        }
    }

    private void Read(AccountSection section, TimeProvider time)
    {
        var settings = section.Read(static one => one.Get<WebPushSettings>());
        var subject = section.Required(nameof(settings.Subject), settings.Subject);
        if (subject.Length > 0 && !VapidSubject.IsContact(subject))
        {
            section.Fail(nameof(settings.Subject), "must be a mailto: or https: address");
        }
        else if (subject.Length > 0 && !VapidSubject.IsApples(subject))
        {
            _refusedByApple.Add(section.LineOf(nameof(settings.Subject), VapidSubject.AppleRule));
        }

        var hosts = Hosts(section, settings.AllowedHosts);
        var clearText = settings.ClearText;
        if (clearText is not null && (string.IsNullOrWhiteSpace(clearText) || clearText.Length > MaxClearCharacters || clearText.Any(char.IsControl)))
        {
            section.Fail(nameof(settings.ClearText), FormattableString.Invariant($"must be a line of 1 to {MaxClearCharacters} characters"));
        }

        Uri? site = null;
        if (settings.Site is { } page && !(Uri.TryCreate(page, UriKind.Absolute, out site) && site.Scheme == Uri.UriSchemeHttps))
        {
            section.Fail(nameof(settings.Site), "must be an https: address");
        }

        if (_byApp.ContainsKey(section.App))
        {
            // A subscription does not say which key it was made for, so a second account could never be chosen.
            section.Fail("", "an app has one Web Push account");
        }

        var signer = Key(section, settings.KeyFile);
        if (signer is null || !section.IsValid)
        {
            signer?.Dispose();
            return;
        }

        var credential = new VapidCredential(signer, subject, time);
        var routes = hosts.ConvertAll(host => new WebPushRoute($"{section.Name}/{host.Pattern}", host, credential, settings.AllowLoopback, clearText, site, new SitePace(time)));
        routes.ForEach(route => _byName.TryAdd(route.Name, route));
        _byApp.Add(section.App, [.. routes]);
    }

    private static List<PushServiceHost> Hosts(AccountSection section, string? allowed)
    {
        var hosts = new List<PushServiceHost>();
        foreach (var entry in (allowed ?? PushServiceHost.Known).Split(' ', StringSplitOptions.RemoveEmptyEntries))
        {
            if (PushServiceHost.Parse(entry) is { } host)
            {
                hosts.Add(host);
            }
            else
            {
                section.Fail(nameof(WebPushSettings.AllowedHosts), $"'{entry}' is not host, host:port, *.suffix or *");
            }
        }

        return hosts;
    }

    private static ECDsa? Key(AccountSection section, string? file)
    {
        if (section.FileBytes(nameof(WebPushSettings.KeyFile), file) is not { } pem)
        {
            return null;
        }

        var signer = P256Key.Read(pem);
        if (signer is null)
        {
            section.Fail(nameof(WebPushSettings.KeyFile), "not a PEM file with a P-256 private key");
        }

        return signer;
    }
}
