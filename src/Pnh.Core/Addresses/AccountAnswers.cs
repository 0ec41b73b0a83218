using Pnh.Core.Timing;

namespace Pnh.Core.Addresses;

/// <summary>
/// What a provider answered to one account: whether it calls so many addresses bad, with a word that a wrong topic, environment or project gets for every address, that this may be the account's fault. Not thread-safe.
/// </summary>
internal sealed class AccountAnswers(TimeProvider time)
{
    /// <summary>So many of them in a minute are dead addresses as there are each day; more may be the account's fault.</summary>
    public const int MostBad = 20;

    /// <summary>And that share of all answers.</summary>
    public const double MostBadShare = 0.05;

    /// <summary>So many may go while the account has accepted nothing since the start, however slowly they come.</summary>
    public const int MostUnproven = 20;

    private readonly LastMinute _minute = new(time);
    private bool _hasAccepted;
    private int _unproven;

    /// <summary>All of the last minute, and the bad ones.</summary>
    public (int All, int Bad) LastMinute => _minute.Read();

    /// <summary>A good answer, or one that says nothing of the address.</summary>
    public void Count(bool isAccepted)
    {
        _minute.Add(isBad: false);
        _hasAccepted |= isAccepted;
    }

    /// <summary>A bad one. True = there are so many that they may be the account's fault.</summary>
    public bool CountBad()
    {
        _minute.Add(isBad: true);
        var (all, bad) = _minute.Read();
        return (bad > MostBad && bad > all * MostBadShare) || (!_hasAccepted && ++_unproven > MostUnproven);
    }
}
