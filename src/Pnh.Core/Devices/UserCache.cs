using System.Collections.Concurrent;
using System.Diagnostics.CodeAnalysis;

namespace Pnh.Core.Devices;

/// <summary>
/// What is known of users, unknown ones included, in two generations: when the young one is full it becomes the old one and the old
/// one goes, so the bound holds without a list of uses; whoever is read moves back to the young. A read that began before a write of the same user
/// cannot fill in what it saw (its ticket is void). Thread-safe; a hit takes no lock.
/// </summary>
internal sealed class UserCache
{
    // Users that share a stripe only void each other's fills now and then: 1,024 keep that rare.
    private const int Stripes = 1_024;

    private readonly Stripe[] _stripes = new Stripe[Stripes];
    private readonly int _generationWeight;
    private volatile Generations _generations = new(new(), new());

    /// <param name="users">Bound, in users with one device.</param>
    public UserCache(int users)
    {
        // A user weighs one and one per device; two generations share the bound.
        _generationWeight = users;
        for (var i = 0; i < Stripes; i++)
        {
            _stripes[i] = new Stripe();
        }
    }

    /// <summary>Both generations' weight, for tests.</summary>
    internal int Weight => _generations is var now ? now.Young.Weight + now.Old.Weight : 0;

    public bool TryGet(UserKey user, [NotNullWhen(true)] out UserSnapshot? snapshot)
    {
        var now = _generations;
        return now.Young.Users.TryGetValue(user, out snapshot)
            || (now.Old.Users.ContainsKey(user) && TryRenew(user, out snapshot));
    }

    /// <summary>To be taken before the store is read.</summary>
    public long StartRead(UserKey user) => Volatile.Read(ref StripeOf(user).Version);

    /// <summary>Keeps what was read, unless the user was written since <paramref name="ticket"/>.</summary>
    public void Fill(UserKey user, UserSnapshot snapshot, long ticket)
    {
        var stripe = StripeOf(user);
        lock (stripe)
        {
            if (stripe.Version == ticket)
            {
                Add(user, snapshot);
            }
        }
    }

    /// <summary>Drops users that were written, after the commit.</summary>
    public void Forget(HashSet<UserKey> users)
    {
        foreach (var user in users)
        {
            var stripe = StripeOf(user);
            lock (stripe)
            {
                stripe.Version++;

                // One reference for both: a turn of generations in between only shifts the young one to old.
                var now = _generations;
                now.Young.Remove(user);
                now.Old.Remove(user);
            }
        }
    }

    private bool TryRenew(UserKey user, [NotNullWhen(true)] out UserSnapshot? snapshot)
    {
        lock (StripeOf(user))
        {
            if (_generations.Old.Users.TryGetValue(user, out snapshot))
            {
                Add(user, snapshot);
                return true;
            }

            return _generations.Young.Users.TryGetValue(user, out snapshot);
        }
    }

    /// <summary>Under the stripe's lock.</summary>
    private void Add(UserKey user, UserSnapshot snapshot)
    {
        var now = _generations;
        if (now.Young.Add(user, snapshot) > _generationWeight)
        {
            // Whoever comes second finds the generation turned already.
            Interlocked.CompareExchange(ref _generations, new Generations(new(), now.Young), now);
        }
    }

    private Stripe StripeOf(UserKey user) => _stripes[(uint)user.GetHashCode() % Stripes];

    private sealed class Stripe
    {
        public long Version;
    }

    private sealed record Generations(Generation Young, Generation Old);

    private sealed class Generation
    {
        private int _weight;

        public ConcurrentDictionary<UserKey, UserSnapshot> Users { get; } = new();

        public int Weight => Volatile.Read(ref _weight);

        /// <summary>The weight with it.</summary>
        public int Add(UserKey user, UserSnapshot snapshot) =>
            Users.TryAdd(user, snapshot) ? Interlocked.Add(ref _weight, WeightOf(snapshot)) : Weight;

        public void Remove(UserKey user)
        {
            if (Users.TryRemove(user, out var gone))
            {
                Interlocked.Add(ref _weight, -WeightOf(gone));
            }
        }

        private static int WeightOf(UserSnapshot snapshot) => 1 + snapshot.Devices.Count;
    }
}
