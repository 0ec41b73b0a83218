namespace Pnh.Channels.Fcm;

/// <summary>
/// Keeps a device at four collapse keys. With a fifth FCM keeps any four and drops what waits under the other, so that one goes without a key: it waits beside
/// the rest, and the notification's tag still replaces what is shown (FCM: "Collapsible and non-collapsible messages"). A key counts until the TTL of its
/// newest message ends, since nobody hears when the phone was there. A table of fixed size in sets of 16 places, by hash of the address: with 100,000
/// devices of a key each, one key in ten thousand finds its set full of other devices' keys. It goes without too, which costs a collapse and never a message. Thread-safe.
/// </summary>
internal sealed class FcmCollapseKeys
{
    /// <summary>Per device, FCM's number.</summary>
    public const int Most = 4;

    /// <summary>With <see cref="Ways"/> places of 12 bytes each: 262,144 live keys in 3 MB, taken with the first key.</summary>
    private const int Sets = 1 << 14;

    private const int Ways = 16;

    private readonly Lock[] _locks = [.. Enumerable.Range(0, 64).Select(static _ => new Lock())];
    private readonly TimeProvider _time;
    private readonly long _start;
    private Place[]? _places;

    public FcmCollapseKeys(TimeProvider time)
    {
        _time = time;
        _start = time.GetTimestamp();
    }

    /// <summary>True, and it is taken for so long, when the device has this key already or fewer than four others.</summary>
    public bool TryTake(string address, string key, TimeSpan time)
    {
        var all = LazyInitializer.EnsureInitialized(ref _places, static () => new Place[Sets * Ways]);
        var now = (uint)_time.GetElapsedTime(_start).TotalSeconds;
        var place = new Place(Hash(address), Hash(key), now + 1 + (uint)Math.Clamp(time.TotalSeconds, 0, int.MaxValue));
        var set = (int)(place.Address % Sets);
        lock (_locks[set % _locks.Length])
        {
            return TryTake(all.AsSpan(set * Ways, Ways), place, now);
        }
    }

    private static bool TryTake(Span<Place> set, in Place wanted, uint now)
    {
        var (own, free) = (0, -1);
        for (var i = 0; i < set.Length; i++)
        {
            ref var place = ref set[i];
            if (place.Until <= now)
            {
                free = i;
            }
            else if (place.Address == wanted.Address && place.Key == wanted.Key)
            {
                place = place with { Until = Math.Max(place.Until, wanted.Until) };
                return true;
            }
            else if (place.Address == wanted.Address)
            {
                own++;
            }
        }

        if (own >= Most || free < 0)
        {
            return false;
        }

        set[free] = wanted;
        return true;
    }

    // Seeded per process. Of 100,000 addresses about one has the hash of another, and then shares its four.
    private static uint Hash(string text) => (uint)string.GetHashCode(text, StringComparison.Ordinal);

    /// <summary>A key in use: hashes of address and key, and the second from which it is free again; 0 = never used.</summary>
    private readonly record struct Place(uint Address, uint Key, uint Until);
}
