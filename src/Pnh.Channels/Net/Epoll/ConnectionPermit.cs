namespace Pnh.Channels.Net.Epoll;

/// <summary>
/// One accepted connection among those that a <see cref="ConnectionBudget"/> allows. A base of what a connection is anyway, since an object more for each of
/// them would cost 3 % of the memory of an idle one. Thread-safe.
/// </summary>
internal abstract class ConnectionPermit : IIdleConnection
{
    private readonly ConnectionBudget? _budget;

    /// <param name="budget">That let it in; null = it is not counted.</param>
    /// <param name="address">Whom it counts for; 0 = nobody.</param>
    protected ConnectionPermit(ConnectionBudget? budget, ulong address)
    {
        _budget = budget;
        Address = address;
        budget?.Add(this);
    }

    /// <summary>Takes over the place of a connection that another one serves from now on.</summary>
    protected ConnectionPermit(ConnectionPermit former)
    {
        _budget = former._budget;
        Address = former.Address;
        _budget?.Replace(former, this);
    }

    /// <summary>Whom it counts for, as <see cref="PeerAddress.KeyOf(int)"/> says; 0 = nobody.</summary>
    internal ulong Address { get; }

    /// <summary>The budget's own: the one before in its list.</summary>
    internal ConnectionPermit? Before { get; set; }

    /// <summary>The budget's own: the one behind in its list.</summary>
    internal ConnectionPermit? Behind { get; set; }

    /// <summary>The budget's own.</summary>
    internal PlaceState State { get; set; }

    /// <summary>The connection is closed. The second time does nothing.</summary>
    public void LeaveBudget() => _budget?.Leave(this);

    /// <summary>It said that it goes, but a request came before.</summary>
    public void Stay() => _budget?.Stay(this);

    /// <inheritdoc/>
    public abstract GiveUp TryGiveUp(bool alsoKnown);
}

/// <summary>Where a place is.</summary>
internal enum PlaceState : byte
{
    /// <summary>Among those that have shown no credential yet.</summary>
    Newcomer,

    /// <summary>Among those that have.</summary>
    Known,

    /// <summary>Carries a session: in no list.</summary>
    Settled,

    /// <summary>Was asked to go: in no list.</summary>
    Going,

    /// <summary>Gave its place back.</summary>
    Left,
}
