namespace Pnh.Core.Users;

/// <summary>
/// How often users may take push addresses from each other, per user and hour: the user who takes is counted, and the one who loses, so that several who take from one user in
/// turn never use up what this user needs to take it back. In memory: a user is forgotten an hour after the first count. Thread-safe.
/// </summary>
public sealed class AddressMoves
{
    private static readonly TimeSpan Hour = TimeSpan.FromHours(1);

    private readonly Dictionary<UserKey, Tally> _users = [];
    private readonly Queue<Tally> _oldestFirst = [];
    private readonly int _most;
    private readonly TimeProvider _time;

    /// <param name="mostPerHour">Takes, and losses, of one user within an hour; 0 = any number.</param>
    /// <param name="time">Says when an hour is over.</param>
    public AddressMoves(int mostPerHour, TimeProvider time)
    {
        ArgumentOutOfRangeException.ThrowIfNegative(mostPerHour);
        (_most, _time) = (mostPerHour, time);
    }

    /// <summary>Users whose hour is not over yet, for tests.</summary>
    internal int Users
    {
        get
        {
            lock (_users)
            {
                ForgetOver();
                return _users.Count;
            }
        }
    }

    /// <summary>Counts what a registration of <paramref name="taker"/> takes, one for each user who loses; false = nothing was counted, and none of it may be taken.</summary>
    internal bool TryTake(UserKey taker, IReadOnlyCollection<UserKey> losers, out TimeSpan retryAfter)
    {
        retryAfter = TimeSpan.Zero;
        if (_most == 0 || losers.Count == 0)
        {
            return true;
        }

        lock (_users)
        {
            ForgetOver();
            retryAfter = WaitOf(taker, static tally => tally.Taken);
            foreach (var loser in losers)
            {
                var wait = WaitOf(loser, static tally => tally.Lost);
                retryAfter = wait > retryAfter ? wait : retryAfter;
            }

            if (retryAfter > TimeSpan.Zero)
            {
                return false;
            }

            TallyOf(taker).Taken += losers.Count;
            foreach (var loser in losers)
            {
                TallyOf(loser).Lost++;
            }

            return true;
        }
    }

    /// <summary>Takes back what <see cref="TryTake"/> counted: it was not written.</summary>
    internal void GiveBack(UserKey taker, IReadOnlyCollection<UserKey> losers)
    {
        lock (_users)
        {
            if (_users.TryGetValue(taker, out var taken))
            {
                taken.Taken = Math.Max(0, taken.Taken - losers.Count);
            }

            foreach (var loser in losers)
            {
                if (_users.TryGetValue(loser, out var lost))
                {
                    lost.Lost = Math.Max(0, lost.Lost - 1);
                }
            }
        }
    }

    private TimeSpan WaitOf(UserKey user, Func<Tally, int> count)
    {
        if (!_users.TryGetValue(user, out var tally) || count(tally) < _most)
        {
            return TimeSpan.Zero;
        }

        return Hour - _time.GetElapsedTime(tally.Started);
    }

    private Tally TallyOf(UserKey user)
    {
        if (!_users.TryGetValue(user, out var tally))
        {
            _users.Add(user, tally = new Tally(user, _time.GetTimestamp()));
            _oldestFirst.Enqueue(tally);
        }

        return tally;
    }

    private void ForgetOver()
    {
        while (_oldestFirst.TryPeek(out var oldest) && _time.GetElapsedTime(oldest.Started) >= Hour)
        {
            _users.Remove(oldest.User);
            _oldestFirst.Dequeue();
        }
    }

    private sealed class Tally(UserKey user, long started)
    {
        public UserKey User { get; } = user;

        public long Started { get; } = started;

        public int Taken { get; set; }

        public int Lost { get; set; }
    }
}
