using Pnh.Sandbox.Credentials;
using Pnh.Sandbox.Hosting;

namespace Pnh.Sandbox.Apns;

/// <summary>
/// What APNs holds against one connection: the team it is bound to, the provider token in use, and whether it is spoiled.
/// Thread-safe. Sources: "Establishing a token-based connection to APNs", developer forum thread 675879.
/// </summary>
internal sealed class ApnsConnection : ProviderConnection
{
    private readonly Lock _lock = new();
    private ProviderToken? _current;
    private bool _wedged;
    private int _badDeviceTokens;
    private bool _authenticated;

    public ApnsConnection(StreamGrant? grant, int granted)
        : base(grant, granted)
    {
    }

    /// <summary>Whether a request with a valid token has been answered.</summary>
    public bool Authenticated
    {
        get => Volatile.Read(ref _authenticated);
        set => Volatile.Write(ref _authenticated, value);
    }

    /// <summary>The token in use, when the text is the same: its signature need not be checked again.</summary>
    public ProviderToken? Known(string text)
    {
        lock (_lock)
        {
            return _current is { } current && current.Text == text ? current : null;
        }
    }

    /// <summary>Takes the token into use, or says why not.</summary>
    public string? Use(ProviderToken token, TimeSpan updateWindow)
    {
        lock (_lock)
        {
            if (_wedged)
            {
                // Seen by Pushy's users: after one ExpiredProviderToken only a new connection helps.
                return ApnsReason.ExpiredProviderToken;
            }

            if (_current is not { } current)
            {
                _current = token;
                return null;
            }

            if (token.Key.TeamId != current.Key.TeamId)
            {
                return ApnsReason.InvalidProviderToken;
            }

            if ((token.Key.Topics is null) != (current.Key.Topics is null))
            {
                return ApnsReason.UnrelatedKeyIdInToken;
            }

            if (token.Text == current.Text)
            {
                return null;
            }

            // By iat and not by arrival: a connection opened late in a token's life may meet its regular successor soon.
            if (token.IssuedAt - current.IssuedAt < updateWindow)
            {
                return ApnsReason.TooManyProviderTokenUpdates;
            }

            _current = token;
            return null;
        }
    }

    public void Wedge()
    {
        lock (_lock)
        {
            _wedged = true;
        }
    }

    public int CountBadDeviceToken() => Interlocked.Increment(ref _badDeviceTokens);
}

/// <summary>A provider token whose signature and claims were found correct.</summary>
internal sealed record ProviderToken(string Text, ApnsKey Key, DateTimeOffset IssuedAt);
