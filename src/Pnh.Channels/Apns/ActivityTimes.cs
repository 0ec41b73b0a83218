using System.Globalization;
using System.Runtime.CompilerServices;
using Pnh.Core.Events;

namespace Pnh.Channels.Apns;

/// <summary>
/// <c>aps.timestamp</c> of live activities: whole seconds, and ActivityKit leaves an update aside that is not newer than what it shows. So updates to one target rise by a second where several come within one, in the
/// order in which they were accepted. Remembers targets of the last minute. Thread-safe.
/// </summary>
internal sealed class ActivityTimes
{
    private const string Shape = "apns/activity-time";
    private static readonly TimeSpan Forgotten = TimeSpan.FromMinutes(1);
    private readonly Dictionary<string, (DateTimeOffset AcceptedAt, long Stamp)> _last = [];
    private DateTimeOffset _swept;

    /// <summary>The event's; its own second when it was never stamped.</summary>
    public static long Of(Event accepted) =>
        accepted.Encodings.GetOrAdd(Shape, accepted, static e => new StrongBox<long>(e.AcceptedAt.ToUnixTimeSeconds())).Value;

    /// <summary>Gives the event its time, at its first push.</summary>
    public void Stamp(Event accepted) => accepted.Encodings.GetOrAdd(Shape, (this, accepted), static state => new StrongBox<long>(state.Item1.Next(state.accepted)));

    private long Next(Event accepted)
    {
        var own = accepted.AcceptedAt.ToUnixTimeSeconds();
        var key = string.Create(CultureInfo.InvariantCulture, $"{accepted.App}\n{accepted.To.Kind}\n{accepted.To.Topic}\n{accepted.To.Device}\n{string.Join('\n', accepted.To.Users)}");
        lock (_last)
        {
            Forget(accepted.AcceptedAt);
            if (!_last.TryGetValue(key, out var last))
            {
                _last[key] = (accepted.AcceptedAt, own);
                return own;
            }

            if (accepted.AcceptedAt < last.AcceptedAt)
            {
                // A newer one went first: this one shall not hide it.
                return Math.Min(own, last.Stamp - 1);
            }

            var stamp = Math.Max(own, last.Stamp + 1);
            _last[key] = (accepted.AcceptedAt, stamp);
            return stamp;
        }
    }

    private void Forget(DateTimeOffset now)
    {
        if (now - _swept < Forgotten)
        {
            return;
        }

        foreach (var (key, last) in _last)
        {
            if (now - last.AcceptedAt > Forgotten && last.Stamp < now.ToUnixTimeSeconds())
            {
                _last.Remove(key);
            }
        }

        _swept = now;
    }
}
