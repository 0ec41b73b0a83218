using Pnh.Core.Sessions;
using Pnh.Core.Users;

namespace Pnh.Core.Shards;

/// <summary>All users, split over the shards. Thread-safe.</summary>
internal sealed class ShardMap
{
    // Far more than cores, so that two busy users rarely meet; few enough that ticking them all costs nothing.
    private const int Count = 64;
    private readonly Shard[] _shards = new Shard[Count];
    private readonly Action<Exception> _broken;

    /// <param name="context">What they share.</param>
    /// <param name="broken">Gets a bug of one: without the tick no timer of any shard would fire again, and nobody would see why.</param>
    internal ShardMap(ShardContext context, Action<Exception> broken)
    {
        _broken = broken;
        for (var i = 0; i < Count; i++)
        {
            _shards[i] = new Shard(context);
        }
    }

    /// <summary>How many timers are set: 0 when every delivery has ended.</summary>
    internal int Timers => _shards.Sum(static s => s.Timers);

    /// <summary>Users of whom something is kept: 0 when nothing is open and nobody is here.</summary>
    internal int Users => _shards.Sum(static s => s.Users);

    /// <summary>Deliveries without a terminal state, counted one by one.</summary>
    internal int InFlight => _shards.Sum(static s => s.CountInFlight());

    internal Shard Of(UserKey user) => _shards[(user.GetHashCode() & int.MaxValue) % Count];

    internal Shard Of(SessionKey session) => Of(new UserKey(session.App, session.User));

    /// <summary>Does what is due now in all of them; true = a timer is still set.</summary>
    internal bool Advance()
    {
        var isSet = false;
        foreach (var shard in _shards)
        {
            try
            {
                isSet |= shard.Advance();
            }
            catch (Exception bug)
            {
                _broken(bug);
                isSet = true;
            }
        }

        return isSet;
    }

    /// <summary>The previous process's deliveries are read: <see cref="HeldFrames.End"/>.</summary>
    internal void EndHeld() => Array.ForEach(_shards, static shard => shard.Held.End());

    /// <summary>Notes what may leave memory now, up to so many.</summary>
    internal List<RestingItem> NoteResting(int most)
    {
        var noted = new List<RestingItem>();
        Array.ForEach(_shards, shard => shard.Mail.Note(noted, most));
        return noted;
    }

    /// <summary>What ended in memory has been written: <see cref="RestingMail.ForgetEnded"/>.</summary>
    internal void ForgetEnded() => Array.ForEach(_shards, static shard => shard.Mail.ForgetEnded());

    /// <summary>The machine's clock was set: every held push is planned anew.</summary>
    internal void ReleaseHolds() => Array.ForEach(_shards, static shard => shard.Holds.Release(null));
}
