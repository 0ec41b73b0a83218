using Pnh.Core.Stores;
using Pnh.Core.Users;

namespace Pnh.Core.FanOuts;

/// <summary>
/// Reads of the registry for events that are on stable storage: a disk that comes back must not cost a delivery. What cannot be read is tried again after 1, 2, 4 … 30 s,
/// until the event is over. Thread-safe.
/// </summary>
/// <param name="devices">The registry.</param>
/// <param name="faulted">Gets each fault of the registry.</param>
/// <param name="time">The clock.</param>
/// <param name="stopping">Ends every wait.</param>
internal sealed class PatientReads(IDeviceStore devices, Action<string> faulted, TimeProvider time, CancellationToken stopping)
{
    private const int LongestRetrySeconds = 30;

    /// <summary>How long a registry that could not be read so many times is left alone.</summary>
    internal static TimeSpan RetryAfter(int failures) => TimeSpan.FromSeconds(Math.Min(1 << Math.Min(failures, 5), LongestRetrySeconds));

    /// <summary>A user; null = could not be read until then.</summary>
    internal async ValueTask<UserSnapshot?> UserAsync(UserKey key, DateTimeOffset until)
    {
        for (var failures = 0; ; failures++)
        {
            if (await TryUserAsync(key).ConfigureAwait(false) is { } snapshot)
            {
                return snapshot;
            }

            if (!await WaitAsync(until, failures).ConfigureAwait(false))
            {
                return null;
            }
        }
    }

    /// <summary>Members after one (empty = from the first), so many at most; null = could not be read until then.</summary>
    internal async ValueTask<MemberPage?> PageAsync(TopicKey topic, string after, int most, DateTimeOffset until)
    {
        for (var failures = 0; ; failures++)
        {
            if (await TryPageAsync(topic, after, most).ConfigureAwait(false) is { } page)
            {
                return page;
            }

            if (!await WaitAsync(until, failures).ConfigureAwait(false))
            {
                return null;
            }
        }
    }

    /// <summary>A user, tried once; null = cannot be read now.</summary>
    internal async ValueTask<UserSnapshot?> TryUserAsync(UserKey key)
    {
        try
        {
            return await devices.GetUserAsync(key, CancellationToken.None).ConfigureAwait(false);
        }
        catch (StoreUnavailableException fault)
        {
            faulted(fault.Message);
            return null;
        }
    }

    /// <summary>Members after one, tried once; null = they cannot be read now.</summary>
    internal async ValueTask<MemberPage?> TryPageAsync(TopicKey topic, string after, int most)
    {
        try
        {
            return await devices.GetMemberPageAsync(topic, after, most, CancellationToken.None).ConfigureAwait(false);
        }
        catch (StoreUnavailableException fault)
        {
            faulted(fault.Message);
            return null;
        }
    }

    /// <summary>How many members the topic has, tried once; null = that cannot be read now.</summary>
    internal async ValueTask<long?> TryCountAsync(TopicKey topic)
    {
        try
        {
            return await devices.CountMembersAsync(topic, CancellationToken.None).ConfigureAwait(false);
        }
        catch (StoreUnavailableException)
        {
            return null;
        }
    }

    /// <summary>These users together, tried once; null = not all can be read now.</summary>
    internal async ValueTask<IReadOnlyList<UserSnapshot>?> TryUsersAsync(string app, IReadOnlyList<string> users, bool areHere = false)
    {
        try
        {
            return await devices.GetUsersAsync(app, users, areHere, CancellationToken.None).ConfigureAwait(false);
        }
        catch (StoreUnavailableException)
        {
            return null;
        }
    }

    /// <summary>Goes on with work that a store kept from its end, behind its caller: tries it again after 1, 2, 4 … 30 s. False = the hub stopped before it was done.</summary>
    /// <param name="tryAsync">Goes on where it stopped; true = it is done. Must not throw.</param>
    internal async Task<bool> GoOnAsync(Func<ValueTask<bool>> tryAsync)
    {
        for (var failures = 0; ; failures++)
        {
            await Task.Delay(RetryAfter(failures), time, stopping).ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
            if (stopping.IsCancellationRequested)
            {
                return false;
            }

            if (await tryAsync().ConfigureAwait(false))
            {
                return true;
            }
        }
    }

    /// <summary>Waits before the next try of something else that a store has kept from its end. Throws <see cref="OperationCanceledException"/> when the hub stops.</summary>
    internal Task WaitAsync(string fault, int failures)
    {
        faulted(fault);
        return Task.Delay(RetryAfter(failures), time, stopping);
    }

    // False = the time is over.
    private async ValueTask<bool> WaitAsync(DateTimeOffset until, int failures)
    {
        if (time.GetUtcNow() >= until)
        {
            return false;
        }

        await Task.Delay(RetryAfter(failures), time, stopping).ConfigureAwait(false);
        return true;
    }
}
