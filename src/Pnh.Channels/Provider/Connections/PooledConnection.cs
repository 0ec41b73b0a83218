using Pnh.Channels.Net.Http;

namespace Pnh.Channels.Provider.Connections;

/// <summary>
/// One connection as its pool sees it: how many requests it may carry and how it fares. Everything but the observer's calls is for the pool, under the
/// pool's lock.
/// </summary>
internal sealed class PooledConnection : IConnectionObserver
{
    private readonly ConnectionPool _pool;
    private readonly bool _startsCold;

    public PooledConnection(ConnectionPool pool, PoolOptions options, long number, TimeSpan lifetime)
    {
        _pool = pool;
        _startsCold = options.StartsCold;
        Limit = options.MaxInFlight;
        Number = number;
        Lifetime = lifetime;
    }

    /// <summary>For logs: counts the pool's connections from 1.</summary>
    public long Number { get; }

    /// <summary>The connection itself; null until it is open.</summary>
    public IProviderConnection? Wire { get; set; }

    public TimeSpan Lifetime { get; }

    /// <summary>When it was opened.</summary>
    public long OpenedAt { get; init; }

    /// <summary>When its last request ended.</summary>
    public long IdleSince { get; set; }

    /// <summary>Since when requests wait without any answer to any of them; null = none does. A request that gave up does not end it: only an answer is progress.</summary>
    public long? SilentSince { get; set; }

    /// <summary>A request went unanswered since then. What was given back unsent says nothing of the connection.</summary>
    public bool HasMissed { get; set; }

    /// <summary>When it began to drain; null = it does not.</summary>
    public long? DrainingSince { get; private set; }

    public int InFlight { get; set; }

    /// <summary>The least of ours and the peer's.</summary>
    public int Limit { get; set; }

    /// <summary>The peer accepts our credential on it.</summary>
    public bool IsProven { get; set; }

    /// <summary>It has answered, whatever it said.</summary>
    public bool HasAnswered { get; set; }

    /// <summary>The peer's SETTINGS are known.</summary>
    public bool HasSettings { get; set; }

    public bool HasEnded { get; set; }

    /// <summary>A GOAWAY without an error is in the log, and one with an error: a line for each says it.</summary>
    public (bool Routine, bool Error) GoAwayLogged { get; set; }

    public bool IsDraining => DrainingSince is not null;

    /// <summary>True while it takes one request at a time: unproven, or its peer has not said yet how many streams it allows.</summary>
    public bool IsCold => _startsCold ? !IsProven : !HasSettings && !HasAnswered;

    /// <summary>Places to be had. None before the wire is there: the peer's SETTINGS may be read on another thread before the opening one comes back with it.</summary>
    public int Room => Wire is null || HasEnded || IsDraining ? 0 : Math.Max(0, (IsCold ? Math.Min(1, Limit) : Limit) - InFlight);

    public void Drain(long now) => DrainingSince ??= now;

    void IConnectionObserver.StreamLimit(long streams) => _pool.StreamLimitOf(this, streams);

    void IConnectionObserver.GoingAway(long errorCode, string? reason) => _pool.GoesAway(this, errorCode, reason);

    void IConnectionObserver.Ended(long violation) => _pool.HasEnded(this, violation);
}

/// <summary>A place on a connection, or why there is none.</summary>
/// <param name="Connection">Where to send; null = nowhere.</param>
/// <param name="Owner">Names the connection to the pool.</param>
/// <param name="Fault">Kebab-case word; null = there is a place.</param>
internal readonly record struct ConnectionPlace(IProviderConnection? Connection, object? Owner, string? Fault)
{
    /// <summary>Nothing of the provider's: more requests at once than the connections carry.</summary>
    public const string Busy = "connection-busy";

    /// <summary>The peer of a connection never said its SETTINGS, so no request left.</summary>
    public const string NoSettings = "no-settings";

    public static ConnectionPlace None(string fault) => new(null, null, fault);
}

/// <summary>Where a sender finds a connection for a request. Thread-safe.</summary>
internal interface IConnectionSource : IAsyncDisposable
{
    /// <summary>Requests at once over all connections, at least 1.</summary>
    int MaxInFlight { get; }

    /// <summary>How many of them may be waited for past their time, at least 1: each keeps its place.</summary>
    int MaxLate { get; }

    /// <summary>
    /// Takes a place, at once when there is one. Every place is paid back by <see cref="Exit"/> or <see cref="Return"/>. No place: the provider cannot be reached, or
    /// <paramref name="cancellationToken"/> was cancelled meanwhile (<see cref="ConnectionPlace.Busy"/>). Never throws.
    /// </summary>
    ValueTask<ConnectionPlace> EnterAsync(CancellationToken cancellationToken);

    /// <summary>Gives the place of a request back that was sent.</summary>
    /// <param name="place">As it was taken.</param>
    /// <param name="answered">An answer came.</param>
    /// <param name="proven">The answer shows that the provider takes our credential.</param>
    void Exit(in ConnectionPlace place, bool answered, bool proven);

    /// <summary>Its request was not answered in time and is waited for: if nothing else can go over the connection meanwhile, another takes its part.</summary>
    void Unanswered(in ConnectionPlace place);

    /// <summary>False while nothing can have left over the place's connection, since its peer has not said its SETTINGS.</summary>
    bool HasSettings(in ConnectionPlace place);

    /// <summary>Gives the place back unused: instead of <see cref="Exit"/>, when nothing was sent.</summary>
    void Return(in ConnectionPlace place);

    /// <summary>No further request goes to this place's connection; those under way finish. Does nothing when it is retired already.</summary>
    void Retire(in ConnectionPlace place);
}
