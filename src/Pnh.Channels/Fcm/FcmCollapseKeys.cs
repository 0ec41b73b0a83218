namespace Pnh.Channels.Fcm;

/// <summary>
/// Keeps a device at four collapse keys. With a fifth FCM keeps any four and drops what waits under the other, so that one goes without a key: it waits beside
/// the rest, and the notification's tag still replaces what is shown (FCM: "Collapsible and non-collapsible messages"). A key counts until the TTL of its
/// newest message ends, since nobody hears when the phone was there. A table of fixed size by hash of the address: two devices that share a
/// place share its keys, which costs a collapse now and then and never a message. Thread-safe, without locks.
/// </summary>
internal sealed class FcmCollapseKeys
{
    /// <summary>Per device, FCM's number.</summary>
    public const int Most = 4;

    /// <summary>Half a megabyte.</summary>
    private const int Places = 1 << 14;

    // The key's hash above the second at which it is free again; 0 = never used.
    private readonly long[] _keys = new long[Places * Most];
    private readonly TimeProvider _time;
    private readonly long _start;

    public FcmCollapseKeys(TimeProvider time)
    {
        _time = time;
        _start = time.GetTimestamp();
    }

    /// <summary>True, and it is taken for so long, when the device has this key already or fewer than four others.</summary>
    public bool TryTake(string address, string key, TimeSpan time)
    {
        var place = _keys.AsSpan((int)((uint)string.GetHashCode(address, StringComparison.Ordinal) % Places) * Most, Most);
        var now = (long)_time.GetElapsedTime(_start).TotalSeconds;
        var hash = (long)string.GetHashCode(key, StringComparison.Ordinal) << 32;
        var until = now + 1 + (long)Math.Max(0, time.TotalSeconds);
        while (true)
        {
            var at = Find(place, hash, now);
            if (at < 0)
            {
                return false;
            }

            var seen = Volatile.Read(ref place[at]);
            var taken = hash | (HashOf(seen) == hash ? Math.Max(until, End(seen)) : until);
            if ((HashOf(seen) == hash || End(seen) <= now) && Interlocked.CompareExchange(ref place[at], taken, seen) == seen)
            {
                return true;
            }
        }
    }

    /// <summary>The place of this key, else one that is free, else -1.</summary>
    private static int Find(Span<long> place, long hash, long now)
    {
        var free = -1;
        for (var i = 0; i < Most; i++)
        {
            var seen = Volatile.Read(ref place[i]);
            if (End(seen) > now && HashOf(seen) == hash)
            {
                return i;
            }

            free = End(seen) <= now ? i : free;
        }

        return free;
    }

    private static long HashOf(long taken) => taken & ~(long)uint.MaxValue;

    private static long End(long taken) => taken & uint.MaxValue;
}
