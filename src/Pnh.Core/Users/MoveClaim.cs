namespace Pnh.Core.Users;

/// <summary>What one registration asks of <see cref="AddressMoves"/>. Its write may run again after a rollback: it is counted once. Used by one thread at a time.</summary>
/// <param name="moves">Null = everything may be taken.</param>
/// <param name="taker">Whose registration it is.</param>
internal sealed class MoveClaim(AddressMoves? moves, UserKey taker)
{
    private HashSet<UserKey> _losers = [];

    /// <summary>When it may be asked again, after a refusal.</summary>
    public TimeSpan RetryAfter { get; private set; }

    /// <summary>False = it takes from others more than it may, and must write nothing.</summary>
    public bool TryTake(HashSet<MovedAddress> moved)
    {
        GiveBack();
        if (moves is null || moved.Count == 0)
        {
            return true;
        }

        var losers = new HashSet<UserKey>();
        foreach (var holder in moved)
        {
            // From one device of the user to another is nobody's loss.
            if (holder.User != taker.User)
            {
                losers.Add(new UserKey(taker.App, holder.User));
            }
        }

        if (!moves.TryTake(taker, losers, out var wait))
        {
            RetryAfter = wait;
            return false;
        }

        _losers = losers;
        return true;
    }

    /// <summary>It was not written.</summary>
    public void GiveBack()
    {
        if (_losers.Count > 0)
        {
            moves!.GiveBack(taker, _losers);
            _losers = [];
        }
    }
}
