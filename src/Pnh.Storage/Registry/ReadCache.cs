using System.Collections.Concurrent;
using System.Diagnostics.CodeAnalysis;

namespace Pnh.Storage.Registry;

/// <summary>
/// What was read of the registry (users, topics), unknown ones included, in two generations: when the young one is full it becomes the old one and
/// the old one goes, so the bound holds without a list of uses; whatever is read moves back to the young. A read that began before a write of the
/// same key cannot fill in what it saw (its ticket is void). Thread-safe; a hit takes no lock.
/// </summary>
internal sealed class ReadCache<TKey, TValue>
    where TKey : struct, IEquatable<TKey>
    where TValue : class
{
    // Keys that share a stripe only void each other's fills now and then: 1,024 keep that rare.
    private const int Stripes = 1_024;

    private readonly Stripe[] _stripes = new Stripe[Stripes];
    private readonly int _generationWeight;
    private readonly Func<TValue, int> _weigh;
    private volatile Generations _generations;
    private long _writes;

    /// <param name="generationWeight">Bound of one of the two generations.</param>
    /// <param name="weigh">What a value weighs; the same each time.</param>
    public ReadCache(int generationWeight, Func<TValue, int> weigh)
    {
        (_generationWeight, _weigh) = (generationWeight, weigh);
        _generations = new(new(weigh), new(weigh));
        for (var i = 0; i < Stripes; i++)
        {
            _stripes[i] = new Stripe();
        }
    }

    /// <summary>How often a key was dropped: what <see cref="TryGet"/> said after this was read holds until it changes.</summary>
    public long Writes => Volatile.Read(ref _writes);

    /// <summary>Both generations' weight, for tests.</summary>
    internal int Weight => _generations is var now ? now.Young.Weight + now.Old.Weight : 0;

    public bool TryGet(TKey key, [NotNullWhen(true)] out TValue? value)
    {
        var now = _generations;
        return now.Young.Values.TryGetValue(key, out value)
            || (now.Old.Values.ContainsKey(key) && TryRenew(key, out value));
    }

    /// <summary>To be taken before the store is read.</summary>
    public long StartRead(TKey key) => Volatile.Read(ref StripeOf(key).Version);

    /// <summary>Keeps what was read, unless the key was written since <paramref name="ticket"/>.</summary>
    public void Fill(TKey key, TValue value, long ticket)
    {
        var stripe = StripeOf(key);
        lock (stripe)
        {
            if (stripe.Version == ticket)
            {
                Add(key, value);
            }
        }
    }

    /// <summary>Drops what was written, after the commit.</summary>
    public void Forget(TKey key)
    {
        var stripe = StripeOf(key);
        lock (stripe)
        {
            stripe.Version++;

            // One reference for both: a turn of generations in between only shifts the young one to old.
            var now = _generations;
            now.Young.Remove(key);
            now.Old.Remove(key);

            // Last: a reader that sees the new number no longer finds the old value.
            Interlocked.Increment(ref _writes);
        }
    }

    private bool TryRenew(TKey key, [NotNullWhen(true)] out TValue? value)
    {
        lock (StripeOf(key))
        {
            if (_generations.Old.Values.TryGetValue(key, out value))
            {
                Add(key, value);
                return true;
            }

            return _generations.Young.Values.TryGetValue(key, out value);
        }
    }

    /// <summary>Under the stripe's lock.</summary>
    private void Add(TKey key, TValue value)
    {
        var now = _generations;
        if (now.Young.Add(key, value) > _generationWeight)
        {
            // The second of two threads finds that the generation has turned.
            Interlocked.CompareExchange(ref _generations, new Generations(new(_weigh), now.Young), now);
        }
    }

    private Stripe StripeOf(TKey key) => _stripes[(uint)key.GetHashCode() % Stripes];

    private sealed class Stripe
    {
        public long Version;
    }

    private sealed record Generations(Generation Young, Generation Old);

    private sealed class Generation(Func<TValue, int> weigh)
    {
        private int _weight;

        public ConcurrentDictionary<TKey, TValue> Values { get; } = new();

        public int Weight => Volatile.Read(ref _weight);

        /// <summary>The weight with it.</summary>
        public int Add(TKey key, TValue value) => Values.TryAdd(key, value) ? Interlocked.Add(ref _weight, weigh(value)) : Weight;

        public void Remove(TKey key)
        {
            if (Values.TryRemove(key, out var gone))
            {
                Interlocked.Add(ref _weight, -weigh(gone));
            }
        }
    }
}
