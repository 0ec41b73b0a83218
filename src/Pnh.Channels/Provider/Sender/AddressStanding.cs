namespace Pnh.Channels.Provider.Sender;

/// <summary>
/// What is known of an account's addresses. Providers slow down and cut connections over which many bad addresses are sent (APNs: BadDeviceToken), so
/// when more than a tenth of the addresses without a good answer turn out bad, those without one are suspect until the share has fallen to a twentieth.
/// Good answers are remembered in two filters of fixed size, by hash: a false "good" is possible, a false "bad" only after many other addresses.
/// Thread-safe.
/// </summary>
internal sealed class AddressStanding
{
    /// <summary>Answers to unproven addresses before a share means anything.</summary>
    public const int LeastJudged = 50;

    /// <summary>Bits of one filter: 256 kB hold 131,072 addresses at one false "good" in seventy.</summary>
    private const int Bits = 1 << 21;

    private const int MostPerFilter = Bits / 16;

    /// <summary>Counts are halved this often, so that a list of yesterday is forgotten.</summary>
    private static readonly TimeSpan HalfLife = TimeSpan.FromMinutes(1);

    private readonly Lock _lock = new();
    private readonly TimeProvider _time;
    private int[]? _recent;
    private int[]? _older;
    private int _inRecent;
    private double _judged;
    private double _bad;
    private long _halvedAt;
    private volatile bool _isSuspicious;

    public AddressStanding(TimeProvider time)
    {
        _time = time;
        _halvedAt = time.GetTimestamp();
    }

    /// <summary>True for an address without a good answer while many such are bad.</summary>
    public bool Suspects(string address) => _isSuspicious && !IsProven(address);

    /// <summary>An answer about an address.</summary>
    public void Note(string address, bool isBad)
    {
        var hash = Hash(address);
        if (!isBad && Has(Volatile.Read(ref _recent), hash))
        {
            // Nearly every answer. One that only the older filter knows joins the recent one, before the older is dropped.
            return;
        }

        lock (_lock)
        {
            if (!isBad)
            {
                Remember(hash);
            }

            Forget();
            _judged++;
            _bad += isBad ? 1 : 0;
            _isSuspicious = _judged >= LeastJudged && _bad > _judged * (_isSuspicious ? 0.05 : 0.1);
        }
    }

    private bool IsProven(string address)
    {
        var hash = Hash(address);
        return Has(Volatile.Read(ref _recent), hash) || Has(Volatile.Read(ref _older), hash);
    }

    private void Remember(ulong hash)
    {
        if (_recent is null || ++_inRecent > MostPerFilter)
        {
            Volatile.Write(ref _older, _recent);
            Volatile.Write(ref _recent, new int[Bits / 32]);
            _inRecent = 1;
        }

        _recent![Word(hash)] |= Bit(hash);
        _recent[Word(hash >> 32)] |= Bit(hash >> 32);
    }

    private void Forget()
    {
        var halvings = _time.GetElapsedTime(_halvedAt) / HalfLife;
        if (halvings >= 1)
        {
            var kept = Math.Pow(0.5, Math.Floor(halvings));
            _judged *= kept;
            _bad *= kept;
            _halvedAt = _time.GetTimestamp();
        }
    }

    private static bool Has(int[]? filter, ulong hash) =>
        filter is not null && (filter[Word(hash)] & Bit(hash)) != 0 && (filter[Word(hash >> 32)] & Bit(hash >> 32)) != 0;

    // Seeded per process, so nobody can choose addresses that look alike.
    private static ulong Hash(string address) => (uint)string.GetHashCode(address, StringComparison.Ordinal) * 0x9E3779B97F4A7C15UL;

    private static int Word(ulong hash) => (int)(hash % Bits / 32);

    private static int Bit(ulong hash) => 1 << (int)(hash % 32);
}
