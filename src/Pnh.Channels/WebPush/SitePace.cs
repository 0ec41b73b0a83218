using Pnh.Core.Events;
using Pnh.Core.Timing;

namespace Pnh.Channels.WebPush;

/// <summary>
/// How many pushes a minute a push service takes of one account. Chrome's takes 1,000 of a site that it judged disruptive, and answers 429 to the rest, for days (developer.chrome.com, "Web Push rate limits", 2026).
/// Learned from 429s to different subscriptions; from then on pushes go at the pace at which they were taken, and a little faster each minute that all are. Calls do not wait for it, bulk gives way to messages.
/// A 429 to few subscriptions is theirs alone. Thread-safe.
/// </summary>
internal sealed class SitePace(TimeProvider time)
{
    /// <summary>Why a push waits.</summary>
    public const string Reason = "site-limited";

    /// <summary>So many different subscriptions within ten seconds, and this share of the answers, are the site's.</summary>
    private const int LeastSubscriptions = 5;

    private const double LeastShare = 0.1;

    /// <summary>A second each: how slow it gets where nothing at all was taken.</summary>
    private const double LeastPerMinute = 60;

    private const double Growth = 1.1;

    /// <summary>Faster than that, measured by what it began with, there is no limit any more.</summary>
    private const double Recovered = 8;

    private static readonly TimeSpan Minute = TimeSpan.FromMinutes(1);

    /// <summary>What may go together.</summary>
    private static readonly TimeSpan Burst = TimeSpan.FromSeconds(2);

    private static readonly TimeSpan Longest = TimeSpan.FromHours(1);
    private readonly Lock _lock = new();
    private readonly LastMinute _minute = new(time);
    private readonly HashSet<int> _refused = [];
    private readonly long _start = time.GetTimestamp();
    private volatile bool _isLimited;
    private double _perMinute;
    private double _began;
    private double _tokens;
    private TimeSpan _filled;
    private TimeSpan _calm;
    private TimeSpan _judged;
    private TimeSpan _pausedUntil;
    private TimeSpan _lastPlace;
    private TimeSpan _messageWaited = -Minute;

    /// <summary>Whether the push service takes only so many.</summary>
    public bool IsLimited => _isLimited;

    private TimeSpan Now => time.GetElapsedTime(_start);

    /// <summary>Takes a place; zero = now, else when to ask again.</summary>
    public TimeSpan Take(EventClass @class)
    {
        if (!_isLimited)
        {
            return TimeSpan.Zero;
        }

        lock (_lock)
        {
            var now = Now;
            Fill(now);
            if (!_isLimited || @class == EventClass.Call)
            {
                _tokens--;
                return TimeSpan.Zero;
            }

            var isTurn = @class != EventClass.Bulk || now - _messageWaited > Burst;
            if (_tokens >= 1 && now >= _pausedUntil && isTurn)
            {
                _tokens--;
                return TimeSpan.Zero;
            }

            if (@class != EventClass.Bulk)
            {
                _messageWaited = now;
            }

            return Place(now);
        }
    }

    /// <summary>A push was taken.</summary>
    public void Accepted()
    {
        lock (_lock)
        {
            Count(isRefused: false);
        }
    }

    /// <summary>A push was refused, for now. Null = that is its subscription's; else it is the site's, and when to ask again.</summary>
    public TimeSpan? Refused(Uri endpoint, TimeSpan retryAfter)
    {
        lock (_lock)
        {
            var now = Now;
            Count(isRefused: true);
            if (_refused.Count < LeastSubscriptions)
            {
                _refused.Add(string.GetHashCode(endpoint.AbsoluteUri, StringComparison.Ordinal));
            }

            var (all, refused) = _minute.Read();
            if (!_isLimited && (_refused.Count < LeastSubscriptions || refused < all * LeastShare))
            {
                return null;
            }

            Limit(now, all - refused, retryAfter);
            return Place(now);
        }
    }

    private void Count(bool isRefused)
    {
        if (_minute.Add(isRefused))
        {
            _refused.Clear();
        }
    }

    private void Limit(TimeSpan now, int accepted, TimeSpan retryAfter)
    {
        if (!_isLimited)
        {
            (_began, _tokens, _isLimited) = (Math.Max(accepted, LeastPerMinute), 0, true);
            _perMinute = _began;
            _filled = _lastPlace = _judged = now;
        }
        else if (now - _judged >= Minute)
        {
            // Once a minute: what was under way is refused too, and says nothing new.
            _perMinute = Math.Max(Math.Min(accepted, _perMinute), LeastPerMinute);
            _judged = now;
        }

        _calm = now;
        if (accepted == 0)
        {
            _pausedUntil = now + (retryAfter < Longest ? retryAfter : Longest);
        }
    }

    private void Fill(TimeSpan now)
    {
        // A whole minute without a refusal.
        while (_isLimited && now - _calm >= Minute)
        {
            _calm += Minute;
            _perMinute *= Growth;
            _isLimited = _perMinute < _began * Recovered;
        }

        _tokens = Math.Min(_tokens + (_perMinute * ((now - _filled) / Minute)), Math.Max(1, _perMinute * (Burst / Minute)));
        _filled = now;
    }

    // A place each: those that wait do not come back together.
    private TimeSpan Place(TimeSpan now)
    {
        var first = now > _pausedUntil ? now : _pausedUntil;
        _lastPlace = (_lastPlace > first ? _lastPlace : first) + (Minute / _perMinute);
        if (_lastPlace - now > Longest)
        {
            _lastPlace = now + Longest;
        }

        return _lastPlace - now;
    }
}
