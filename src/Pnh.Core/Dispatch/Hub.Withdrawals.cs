using Pnh.Core.Events;
using Pnh.Core.Journal;
using Pnh.Core.Sessions;
using Pnh.Core.Shards;
using Pnh.Core.Stores;
using Pnh.Core.Users;

namespace Pnh.Core.Dispatch;

/// <summary>Taking events back.</summary>
public sealed partial class Hub
{
    /// <summary>
    /// Takes an event back from one user or (null) from all: stops what waits, clears what was shown. Durable before it completes, and at most once.
    /// Throws <see cref="StoreUnavailableException"/>; then it may be tried again.
    /// </summary>
    public ValueTask<WithdrawStatus> WithdrawAsync(string app, string id, string reason, string? user, CancellationToken cancellationToken) =>
        WithdrawAsync(new Withdrawal(app, id, reason, _time.GetUtcNow()), reason, user, exceptDevice: null, cancellationToken);

    /// <inheritdoc/>
    public void Answered(SessionKey session, string eventId, string reason, string? answer) => _ = AnsweredAsync(session, eventId, reason, answer).AsTask();

    /// <inheritdoc/>
    public async ValueTask<bool> AnsweredAsync(SessionKey session, string eventId, string reason, string? answer)
    {
        try
        {
            var key = new UserKey(session.App, session.User);
            if (!ShardOf(session).Ack(key, session.Device, eventId) && !await WasForAsync(key, eventId).ConfigureAwait(false))
            {
                return true; // never sent to this user: nothing to end, and nothing to tell
            }

            var noted = answer is null ? reason : $"{reason}: {answer}";
            var withdrawal = new Withdrawal(session.App, eventId, reason, _time.GetUtcNow());
            await WithdrawAsync(withdrawal, noted, session.User, session.Device, CancellationToken.None).ConfigureAwait(false);
            return true;
        }
        catch (StoreUnavailableException fault)
        {
            NoteStoreFault(fault.Message);
            return false;
        }
        catch (Exception bug)
        {
            Log.AnswerBroke(_paced, eventId, session.App, bug);
            return false;
        }
    }

    private async ValueTask<bool> WasForAsync(UserKey user, string id)
    {
        var history = await _context.Journal.ReadAsync(user.App, id, user.User, CancellationToken.None).ConfigureAwait(false);
        return history?.Milestones.Any(m => m.Device is not null) == true;
    }

    private async ValueTask<WithdrawStatus> WithdrawAsync(
        Withdrawal withdrawal, string noted, string? user, string? exceptDevice, CancellationToken cancellationToken)
    {
        // Everything it starts shall be in its history.
        await _dispatching.DispatchedAsync(withdrawal.App, withdrawal.Event).WaitAsync(cancellationToken).ConfigureAwait(false);
        var isPushing = user is null || (new UserKey(withdrawal.App, user) is var key && ShardOf(key).IsPushing(key, withdrawal.Event));
        var result = await NoteWithdrawalAsync(withdrawal, noted, user, cancellationToken).ConfigureAwait(false);
        if (result.History is { } history)
        {
            await TakeBackAsync(withdrawal, history, user, exceptDevice, isPushing).ConfigureAwait(false);
        }

        return result.Status;
    }

    // A fan-out stands still until it stands, and goes on when it could not be written; for one user it only passes him by.
    private async ValueTask<WithdrawResult> NoteWithdrawalAsync(Withdrawal withdrawal, string noted, string? user, CancellationToken cancellationToken)
    {
        var fanOut = _fanOuts.Find(withdrawal.App, withdrawal.Event);
        if (user is not null)
        {
            fanOut?.Skip(user);
        }

        if (fanOut is null || user is not null)
        {
            return await WriteAsync().ConfigureAwait(false);
        }

        await fanOut.HoldAsync(cancellationToken).ConfigureAwait(false);
        fanOut.Pause(isOn: true);
        try
        {
            var result = await WriteAsync().ConfigureAwait(false);
            _fanOuts.Stop(fanOut);
            return result;
        }
        finally
        {
            fanOut.Pause(isOn: false);
            fanOut.Release();
        }

        ValueTask<WithdrawResult> WriteAsync() =>
            _context.Journal.WithdrawAsync(withdrawal.App, withdrawal.Event, user, noted, _time.GetUtcNow(), cancellationToken);
    }

    // It stands from here on and nobody can ask again, so nothing here may throw or be cancelled: first all that waits is stopped, which needs no
    // store; then what was shown is cleared.
    private async ValueTask TakeBackAsync(Withdrawal withdrawal, EventHistory history, string? user, string? exceptDevice, bool isPushing)
    {
        var sent = new List<(string User, string Device, string Channel)>();
        EventProgress? held = null;
        foreach (var each in new ShownEvent(history, user).Users)
        {
            var key = new UserKey(withdrawal.App, each.Key);
            ShardOf(key).Stop(key, withdrawal, exceptDevice, sent, ref held);
        }

        if (_loader.Read(history.Event, []) is not { } accepted)
        {
            Release(held);
            return;
        }

        var stuck = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        var clearing = ClearAsync(withdrawal, accepted, history, user, exceptDevice, isPushing, sent, held, stuck);
        await Task.WhenAny(clearing, stuck.Task).ConfigureAwait(false);
    }

    private async Task ClearAsync(
        Withdrawal withdrawal, Event accepted, EventHistory history, string? user, string? exceptDevice, bool isPushing,
        List<(string User, string Device, string Channel)> sent, EventProgress? held, TaskCompletionSource stuck)
    {
        try
        {
            // A provider may have accepted between the withdrawal's history and the stop.
            var shown = new ShownEvent((isPushing ? await ReadAgainAsync(history, user).ConfigureAwait(false) : null) ?? history, user);
            sent.ForEach(shown.Note);
            foreach (var (shownTo, devices) in shown.Users)
            {
                await ClearUserAsync(withdrawal, accepted, shownTo, devices, exceptDevice, held, stuck).ConfigureAwait(false);
            }

            Release(held);
        }
        catch (OperationCanceledException)
        {
            // The hub stops: the event stays open, so the next start goes on.
        }
        catch (Exception bug)
        {
            Log.ClearBroke(_paced, withdrawal.Event, withdrawal.App, bug);
        }
    }

    private async ValueTask ClearUserAsync(
        Withdrawal withdrawal, Event accepted, string user, Dictionary<string, ShownEvent.Shown> devices, string? exceptDevice, EventProgress? held,
        TaskCompletionSource stuck)
    {
        var key = new UserKey(withdrawal.App, user);
        if (await _reads.UserAsync(key, withdrawal.At + Shard.ClearWithin, stuck).ConfigureAwait(false) is { } snapshot)
        {
            ShardOf(key).Clear(key, accepted, withdrawal, devices, snapshot, exceptDevice, held);
        }
        else
        {
            ShardOf(key).GiveUpClear(key, accepted, devices, exceptDevice, ShardContext.StoreUnavailable);
        }
    }

    // What the previous process took back and had not cleared everywhere when it ended. It comes back early when the registry cannot be read.
    private async ValueTask ClearRestAsync(Event accepted, EventProgress held)
    {
        var stuck = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        var clearing = ClearRestAsync(accepted, held, stuck);
        await Task.WhenAny(clearing, stuck.Task).ConfigureAwait(false);
    }

    private async Task ClearRestAsync(Event accepted, EventProgress held, TaskCompletionSource stuck)
    {
        try
        {
            if (await _context.Journal.ReadAsync(accepted.App, accepted.Id, CancellationToken.None).ConfigureAwait(false) is { } history)
            {
                foreach (var (withdrawal, user, devices) in UnclearedEvent.Of(history, _time.GetUtcNow() - Shard.ClearWithin))
                {
                    await ClearUserAsync(withdrawal, accepted, user, devices, exceptDevice: null, held, stuck).ConfigureAwait(false);
                }
            }

            Release(held);
        }
        catch (OperationCanceledException)
        {
            // The hub stops, as above.
        }
        catch (StoreUnavailableException fault)
        {
            NoteStoreFault(fault.Message);
        }
        catch (Exception bug)
        {
            Log.ClearBroke(_paced, accepted.Id, accepted.App, bug);
        }
    }

    private void Release(EventProgress? held)
    {
        if (held is not null)
        {
            _context.Close(held);
        }
    }

    private async ValueTask<EventHistory?> ReadAgainAsync(EventHistory history, string? user)
    {
        try
        {
            return user is null
                ? await _context.Journal.ReadAsync(history.Event.App, history.Event.Id, CancellationToken.None).ConfigureAwait(false)
                : await _context.Journal.ReadAsync(history.Event.App, history.Event.Id, user, CancellationToken.None).ConfigureAwait(false);
        }
        catch (StoreUnavailableException fault)
        {
            NoteStoreFault(fault.Message);
            return null;
        }
    }
}
