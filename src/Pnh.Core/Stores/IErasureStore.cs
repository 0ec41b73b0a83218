using Pnh.Core.Events;
using Pnh.Core.Users;

namespace Pnh.Core.Stores;

/// <summary>
/// The erasures of users: a receipt of each, and from when on a client token counts again. Kept is no name but a keyed hash of the user's id, for <see cref="Limits.ErasureLife"/>.
/// Thread-safe. A write has reached stable storage when its task completes; storage faults throw <see cref="StoreUnavailableException"/>.
/// </summary>
public interface IErasureStore
{
    /// <summary>From now on no client token of before counts. An erasure of the user that was begun and not ended goes on under its id.</summary>
    Task<StartedErasure> BeginAsync(UserKey user, CancellationToken cancellationToken);

    /// <summary>
    /// Notes what was found. Where nothing was, and the user had been erased before, the receipt is that of then.
    /// </summary>
    Task<ErasureReceipt> EndAsync(StartedErasure started, ErasedParts found, CancellationToken cancellationToken);

    /// <summary>Null = the app has no such erasure, or it has not ended.</summary>
    ValueTask<ErasureReceipt?> FindAsync(string app, string id, CancellationToken cancellationToken);

    /// <summary>When the user's last erasure began, by the machine's clock; null = none. Never waits, never throws.</summary>
    DateTimeOffset? FindBarrier(UserKey user);
}

/// <summary>An erasure under way.</summary>
/// <param name="User">Who is erased.</param>
/// <param name="Id">Of the receipt.</param>
/// <param name="At">When it began, by the hub's clock.</param>
/// <param name="Barrier">The same by the machine's clock.</param>
/// <param name="IsNew">False = it goes on with an earlier one that had not ended.</param>
public readonly record struct StartedErasure(UserKey User, string Id, DateTimeOffset At, DateTimeOffset Barrier, bool IsNew);

/// <summary>What an erasure found of a user, and did.</summary>
/// <param name="Devices">Registrations that were removed.</param>
/// <param name="Topics">Memberships that were removed.</param>
/// <param name="Sessions">Sessions that were closed.</param>
/// <param name="Withdrawn">Events that still waited for one of the user's devices, and were taken back from the user.</param>
/// <param name="GoneBy">When the journal tells nothing of the user any more; null = it told nothing.</param>
public readonly record struct ErasedParts(int Devices, int Topics, int Sessions, int Withdrawn, DateTimeOffset? GoneBy)
{
    /// <summary>Nothing was removed, closed or taken back.</summary>
    public bool IsNothing => (Devices | Topics | Sessions | Withdrawn) == 0;
}

/// <summary>What became of an erasure.</summary>
/// <param name="Id">32 hexadecimal digits.</param>
/// <param name="At">When it began, by the hub's clock.</param>
/// <param name="Parts">What it found.</param>
public sealed record ErasureReceipt(string Id, DateTimeOffset At, ErasedParts Parts);
