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
    /// <param name="key">Who.</param>
    /// <param name="until">The end of the event.</param>
    /// <param name="stuck">Completes when the first try fails: nobody has to wait for the rest.</param>
    internal async ValueTask<UserSnapshot?> UserAsync(UserKey key, DateTimeOffset until, TaskCompletionSource stuck)
    {
        for (var failures = 0; ; failures++)
        {
            try
            {
                return await devices.GetUserAsync(key, CancellationToken.None).ConfigureAwait(false);
            }
            catch (StoreUnavailableException fault)
            {
                if (!await WaitAsync(until, failures, fault.Message, stuck).ConfigureAwait(false))
                {
                    return null;
                }
            }
        }
    }

    /// <summary>Members after one; null = could not be read until then.</summary>
    /// <param name="topic">Of which topic.</param>
    /// <param name="after">Empty = from the first.</param>
    /// <param name="most">So many at most.</param>
    /// <param name="until">The end of the event.</param>
    /// <param name="stuck">Completes when the first try fails.</param>
    internal async ValueTask<MemberPage?> PageAsync(TopicKey topic, string after, int most, DateTimeOffset until, TaskCompletionSource stuck)
    {
        for (var failures = 0; ; failures++)
        {
            try
            {
                return await devices.GetMemberPageAsync(topic, after, most, CancellationToken.None).ConfigureAwait(false);
            }
            catch (StoreUnavailableException fault)
            {
                if (!await WaitAsync(until, failures, fault.Message, stuck).ConfigureAwait(false))
                {
                    return null;
                }
            }
        }
    }

    /// <summary>The topic's members if they are no more than a page, tried once; null = they are more, or cannot be read now.</summary>
    internal async ValueTask<IReadOnlyList<string>?> TryFewAsync(TopicKey topic, int most)
    {
        try
        {
            return await devices.GetMemberPageAsync(topic, string.Empty, most, CancellationToken.None).ConfigureAwait(false) is { IsLast: true } page ? page.Users : null;
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

    /// <summary>Waits before the next try; false = the time is over. Throws <see cref="OperationCanceledException"/> when the hub stops.</summary>
    internal async ValueTask<bool> WaitAsync(DateTimeOffset until, int failures, string fault, TaskCompletionSource stuck)
    {
        faulted(fault);
        if (time.GetUtcNow() >= until)
        {
            return false;
        }

        stuck.TrySetResult();
        await Task.Delay(RetryAfter(failures), time, stopping).ConfigureAwait(false);
        return true;
    }
}
