using Microsoft.Extensions.Logging;
using Pnh.Channels.Provider.Connections;
using Pnh.Channels.Provider.Credentials;
using Pnh.Core.Push;

namespace Pnh.Channels.Fcm;

/// <summary>An access token as a header value, or why there is none.</summary>
internal readonly record struct FcmAuthorization(string? Header, DeliveryResult Failure);

/// <summary>
/// The OAuth access token of one service account. One fetch at a time, however many senders ask; renewed in the background while the old token is still
/// good, so that no send waits for it. After a failed fetch nobody asks again for a while. Thread-safe.
/// </summary>
internal sealed partial class FcmCredential : IDisposable
{
    /// <summary>Begin to renew this long before the end: many times what a fetch with retries takes.</summary>
    public static readonly TimeSpan RenewalMargin = TimeSpan.FromMinutes(5);

    /// <summary>Not used this close to the end, because it must still be good when it arrives.</summary>
    public static readonly TimeSpan SafetyMargin = TimeSpan.FromSeconds(30);

    /// <summary>Between two tokens thrown away because of a 401.</summary>
    public static readonly TimeSpan ReplacementPause = TimeSpan.FromMinutes(1);

    private readonly Lock _lock = new();
    private readonly ProviderServices _services;
    private readonly CredentialSuccession<FcmTokenEndpoint> _endpoints;
    private readonly TimeProvider _time;
    private readonly ILogger _log;
    private readonly CancellationTokenSource _stopping = new();
    private FcmAccessToken? _current;
    private TimeSpan _replaceFrom;
    private Task<FcmAccessToken>? _fetch;

    public FcmCredential(ServiceAccount account, ProviderServices services)
    {
        _services = services;
        Stop = new ConfigurationStop(services.Time);
        _endpoints = new CredentialSuccession<FcmTokenEndpoint>(new FcmTokenEndpoint(account, services), services.Time);
        _time = services.Time;
        _log = services.Loggers.CreateLogger<FcmCredential>();
    }

    /// <summary>How long the present token is good; zero without one.</summary>
    public TimeSpan Left => Volatile.Read(ref _current) is { Authorization.Header: not null } current ? current.GoodUntil - Now : TimeSpan.Zero;

    /// <summary>Holds the account's deliveries back while Google refuses it.</summary>
    public ConfigurationStop Stop { get; }

    private TimeSpan Now => _time.GetElapsedTime(0);

    /// <summary>Another key for the same project: the next fetch signs with it, and is due now; the present token stays in use until it has come.</summary>
    public void Take(ServiceAccount account)
    {
        lock (_lock)
        {
            _endpoints.Take(new FcmTokenEndpoint(account, _services), Stop.IsRefusing);
            _current = _current is { Authorization.Header: not null } current ? current with { RenewFrom = Now } : null;
        }

        Stop.Renewed();
    }

    /// <summary>The header to use now; completes at once while a token is good.</summary>
    public ValueTask<FcmAuthorization> GetAsync(CancellationToken cancellationToken)
    {
        var now = Now;
        var current = Volatile.Read(ref _current);
        if (current is null || now >= current.GoodUntil)
        {
            return new ValueTask<FcmAuthorization>(FetchAsync(cancellationToken));
        }

        if (now >= current.RenewFrom)
        {
            _ = StartFetch();
        }

        return ValueTask.FromResult(current.Authorization);
    }

    /// <summary>
    /// After a 401: another token than <paramref name="refused"/>, fetched if nobody has fetched one meanwhile. The same again when the last
    /// replacement is less than <see cref="ReplacementPause"/> ago: then new tokens do not help.
    /// </summary>
    public ValueTask<FcmAuthorization> ReplaceAsync(string refused, CancellationToken cancellationToken)
    {
        lock (_lock)
        {
            var now = Now;
            if (_current is { } current && string.Equals(current.Authorization.Header, refused, StringComparison.Ordinal) && now >= _replaceFrom)
            {
                _current = null;
                _replaceFrom = now + ReplacementPause;
            }
        }

        return GetAsync(cancellationToken);
    }

    /// <summary>True for a token so new that not all of Google may know it yet.</summary>
    public bool IsNew(string header) =>
        Volatile.Read(ref _current) is { } current && string.Equals(current.Authorization.Header, header, StringComparison.Ordinal) && Now - current.FetchedAt < FcmResponse.OutagePause;

    public void Dispose()
    {
        // The accounts are registered under two services, and the container disposes what each of them brought.
        if (!_stopping.IsCancellationRequested)
        {
            _stopping.Cancel();
            _endpoints.InUse.Dispose();
        }
    }

    /// <summary>FCM took a request with that header.</summary>
    public void Accepted(string header)
    {
        if (Volatile.Read(ref _current) is { Source: { } source } current && ReferenceEquals(current.Authorization.Header, header))
        {
            _endpoints.Accepted(source);
        }
    }

    /// <summary>For a header that FCM refused: true = the account before is in use meanwhile, and a token of it is to be tried instead.</summary>
    public bool TryFallBack(string refused)
    {
        lock (_lock)
        {
            var source = Volatile.Read(ref _current) is { } current && string.Equals(current.Authorization.Header, refused, StringComparison.Ordinal) ? current.Source : null;
            if (!_endpoints.TryFallBack(source, out var isChanged))
            {
                return false;
            }

            if (isChanged)
            {
                _current = null;
                FellBack();
            }

            return true;
        }
    }

    private void FellBack()
    {
        if (_endpoints.IsFallback)
        {
            Log.FellBack(_log, _endpoints.InUse.Project);
        }
        else
        {
            Log.NewAgain(_log, _endpoints.InUse.Project);
        }

        Stop.Renewed();
    }

    private async Task<FcmAuthorization> FetchAsync(CancellationToken cancellationToken)
    {
        var fetched = await StartFetch().WaitAsync(cancellationToken);
        return fetched.Authorization;
    }

    /// <summary>Joins the fetch under way or starts one. It belongs to all who wait, so none of them cancels it.</summary>
    private Task<FcmAccessToken> StartFetch()
    {
        lock (_lock)
        {
            if (_current is { } current && Now < current.RenewFrom)
            {
                return Task.FromResult(current);
            }

            return _fetch ??= RunAsync();
        }
    }

    private async Task<FcmAccessToken> FetchOnceAsync()
    {
        var source = _endpoints.InUse;
        return await source.FetchAsync(_stopping.Token) with { Source = source };
    }

    private async Task<FcmAccessToken> RunAsync()
    {
        // Off the caller's stack and lock: the signature alone takes 270 us.
        await Task.CompletedTask.ConfigureAwait(ConfigureAwaitOptions.ForceYielding);
        FcmAccessToken fetched;
        try
        {
            fetched = await FetchOnceAsync();
            if (fetched is { Authorization.Failure.Status: DeliveryStatus.Misconfigured, Source: { } refused } && _endpoints.TryFallBack(refused, out _))
            {
                FellBack();
                fetched = await FetchOnceAsync();
            }
        }
        catch
        {
            lock (_lock)
            {
                _fetch = null;
            }

            throw;
        }

        lock (_lock)
        {
            _fetch = null;

            // A failure never takes the place of a token that is still good; the next try waits until the failure's pause is over.
            var keep = fetched.Authorization.Header is null && _current is { Authorization.Header: not null } old && Now < old.GoodUntil;
            _current = keep ? _current! with { RenewFrom = fetched.RenewFrom } : fetched;
            return fetched;
        }
    }

    private static partial class Log
    {
        [LoggerMessage(1, LogLevel.Error, "Google refuses the new key of project {Project}: the one before it is used again. Look at the service account and its roles, and delete no key until the new one is taken.", EventName = "FcmKeyFellBack")]
        public static partial void FellBack(ILogger logger, string project);

        [LoggerMessage(2, LogLevel.Warning, "Google refuses the key before of project {Project}: the new one is tried again.", EventName = "FcmNewKeyAgain")]
        public static partial void NewAgain(ILogger logger, string project);
    }
}
