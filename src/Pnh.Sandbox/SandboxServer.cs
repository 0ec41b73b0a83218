using System.Security.Cryptography.X509Certificates;
using Microsoft.AspNetCore.Server.Kestrel.Core;
using Pnh.Sandbox.Apns;
using Pnh.Sandbox.Contract;
using Pnh.Sandbox.Control;
using Pnh.Sandbox.Credentials;
using Pnh.Sandbox.Fcm;
using Pnh.Sandbox.Hosting;
using Pnh.Sandbox.OAuth;
using Pnh.Sandbox.Phones;
using Pnh.Sandbox.Scripts;
using Pnh.Sandbox.WebPush;

namespace Pnh.Sandbox;

/// <summary>
/// Strict stand-ins for APNs, FCM HTTP v1, Web Push and Google's OAuth, on real TLS and HTTP/2, and the phones behind them. Thread-safe.
/// It shares no code with the hub's channels, so that it cannot share their mistakes.
/// </summary>
public sealed class SandboxServer : IAsyncDisposable
{
    // Kestrel's own limit is a fence behind the one that we announce and count.
    private const int StreamFence = 4;

    private readonly StandInHost _google;
    private readonly StandInHost _apple;
    private readonly AccessTokens _tokens;
    private readonly Browsers _browsers;

    private SandboxServer(StandInHost google, StandInHost apple, SandboxCredentials credentials, AccessTokens tokens,
        Browsers browsers, SandboxScripts scripts, SandboxPhones phones, SandboxViolations violations)
    {
        _google = google;
        _apple = apple;
        _tokens = tokens;
        _browsers = browsers;
        Credentials = credentials;
        Scripts = scripts;
        Phones = phones;
        Violations = violations;
    }

    /// <summary>The base address of APNs: <c>https://localhost:8443/</c>.</summary>
    public Uri ApnsAddress => _apple.Address;

    /// <summary>The base address of FCM, Web Push and OAuth: <c>https://localhost:8444/</c>.</summary>
    public Uri FcmAddress => _google.Address;

    /// <summary>The only CA that a client must trust to reach both addresses.</summary>
    public X509Certificate2 CaCertificate => Credentials.CaCertificate;

    /// <summary>Keys and files to configure a hub with.</summary>
    public SandboxCredentials Credentials { get; }

    /// <summary>The phones and their lock screens.</summary>
    public SandboxPhones Phones { get; }

    /// <summary>What shall go wrong, per address.</summary>
    public SandboxScripts Scripts { get; }

    /// <summary>What a real provider would have punished.</summary>
    public SandboxViolations Violations { get; }

    /// <summary>Access tokens handed out since the start.</summary>
    public long AccessTokensGranted => _tokens.Granted;

    /// <summary>Opens both ports and makes missing credentials.</summary>
    /// <exception cref="SandboxException">An impossible option, a port in use, a damaged file; the message is one line.</exception>
    public static async Task<SandboxServer> StartAsync(SandboxOptions options, CancellationToken cancellationToken)
    {
        ArgumentNullException.ThrowIfNull(options);
        if (options.Errors() is { Count: > 0 } errors)
        {
            throw new SandboxException($"The sandbox's options are wrong: {string.Join("; ", errors)}.");
        }

        SandboxCredentials credentials = SandboxCredentials.LoadOrCreate(options.Folder);
        SandboxScripts scripts = new(options.TimeProvider);
        SandboxPhones phones = new(options);
        SandboxViolations violations = new();
        AccessTokens tokens = new(options);
        Browsers browsers = new(credentials.Browsers.Secret, options.FcmPort);

        GooglePort googlePort = new(
            new FcmStandIn(options, credentials.ProjectId, tokens, scripts, phones),
            new OAuthStandIn(new AssertionCheck(credentials.Account, options), tokens, options),
            new WebPushStandIn(options, browsers, credentials.Browsers.ApplicationServerKey, scripts, phones, violations),
            new ControlEndpoints(scripts, phones, violations, browsers),
            violations);
        ApnsStandIn apns = new(options, credentials, scripts, phones, violations);

        StandInHost google = await StandInHost.StartAsync(ForGoogle(options, credentials), googlePort.HandleAsync, cancellationToken);
        try
        {
            StandInHost apple = await StandInHost.StartAsync(ForApple(options, credentials), apns.HandleAsync, cancellationToken);
            browsers.MoveTo(google.Address);
            credentials.Account.MoveTo(new Uri(google.Address, OAuthStandIn.Path).AbsoluteUri);
            return new SandboxServer(google, apple, credentials, tokens, browsers, scripts, phones, violations);
        }
        catch
        {
            await google.DisposeAsync();
            throw;
        }
    }

    /// <summary>The subscription of the browser of this name: the same at every start on this folder, but for the port in its endpoint.</summary>
    /// <param name="name">1 to 64 letters, digits, <c>-</c>, <c>_</c> or <c>.</c>; its address in <see cref="Phones"/> and <see cref="Scripts"/>.</param>
    public BrowserSubscription Subscribe(string name)
    {
        ArgumentNullException.ThrowIfNull(name);
        return Browsers.IsName(name) ? _browsers.Subscribe(name) : throw new ArgumentException(Browsers.NameRule, nameof(name));
    }

    /// <summary>The same at Windows' push service, which is stricter.</summary>
    /// <param name="name">As of <see cref="Subscribe"/>.</param>
    public BrowserSubscription SubscribeToWindows(string name)
    {
        ArgumentNullException.ThrowIfNull(name);
        return Browsers.IsName(name) ? _browsers.SubscribeToWindows(name) : throw new ArgumentException(Browsers.NameRule, nameof(name));
    }

    /// <summary>The same at Apple's push service, which takes the permission away at the third push that shows nothing.</summary>
    /// <param name="name">As of <see cref="Subscribe"/>.</param>
    public BrowserSubscription SubscribeToApple(string name)
    {
        ArgumentNullException.ThrowIfNull(name);
        return Browsers.IsName(name) ? _browsers.SubscribeToApple(name) : throw new ArgumentException(Browsers.NameRule, nameof(name));
    }

    /// <summary>Makes every access token that is out unknown: the next send with it gets 401.</summary>
    public void RevokeAccessTokens() => _tokens.Revoke();

    /// <inheritdoc />
    public async ValueTask DisposeAsync()
    {
        await _apple.DisposeAsync();
        await _google.DisposeAsync();
    }

    private static StandInHost.Settings ForGoogle(SandboxOptions options, SandboxCredentials credentials) => new(
        "FCM stand-in", options.FcmPort, options.Address, credentials.Certificate.Server, HttpProtocols.Http1AndHttp2,
        options.FcmStreams * StreamFence,
        ProviderConnection.Middleware(options.FcmStreams, grant => new ProviderConnection(grant, options.FcmStreams)));

    private static StandInHost.Settings ForApple(SandboxOptions options, SandboxCredentials credentials) => new(
        "APNs stand-in", options.ApnsPort, options.Address, credentials.Certificate.Server, HttpProtocols.Http2,
        options.StreamsAfterAuthentication * StreamFence,
        ProviderConnection.Middleware(options.StreamsBeforeAuthentication,
            grant => new ApnsConnection(grant, options.StreamsBeforeAuthentication)));
}
