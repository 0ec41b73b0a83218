using Pnh.Core.Events;
using Pnh.Core.FanOuts;
using Pnh.Core.Progress;
using Pnh.Core.Sessions;
using Pnh.Core.Users;

namespace Pnh.Core.Dispatch;

/// <summary>
/// The dispatch of an event that the previous process left unfinished: the shares of its users, then those of whom nothing had begun. Where the registry cannot be read, the rest waits, and goes
/// on where it stopped. For one thread at a time.
/// </summary>
internal sealed class RestoredDispatch(Dispatcher dispatcher, Event accepted, EventProgress progress, RestoredEvent restored)
{
    private const string RowsLost = "The registry has nothing of a user whose events are unfinished: put the registry.db back that belongs to the journal.";

    private readonly UserWalk _walk = new(dispatcher, accepted);
    private readonly List<string> _lost = [];
    private string[][]? _shares; // users whose devices are planned anew, in pages
    private int _page;
    private bool _areSharesDone;
    private bool _isNewDone;
    private MemberPage? _members;
    private bool _isFanOut; // which goes on with it
    private TopicSessions? _guests;

    // Sessions that were given it as guests: what their devices get is in the shares.
    private TopicSessions Guests => _guests ??= TopicSessions.OfGuests(restored.Users.SelectMany(static one => one.Value.Deliveries.Where(static each => each.IsJoined).Select(each => (one.Key, each.Device))));

    /// <summary>Goes on; false = the registry cannot be read now, so it has to be called again.</summary>
    internal async ValueTask<bool> TryAsync() => await TrySharesAsync().ConfigureAwait(false) && (_isNewDone = _isNewDone || await TryNewAsync().ConfigureAwait(false))
        && (_isFanOut || await TryLostAsync().ConfigureAwait(false));

    // Before sessions come, and also of members whose page the previous process had not come to.
    private async ValueTask<bool> TrySharesAsync()
    {
        _shares ??= [.. restored.Users.Where(static one => one.Value.WasPlanned).Select(static one => one.Key).Chunk(FanOutPages.Members)];
        for (; _page < _shares.Length; _page++)
        {
            if (!await _walk.TryAsync(_shares[_page], areRead: true, TakeShare).ConfigureAwait(false))
            {
                return false;
            }
        }

        if (!_areSharesDone)
        {
            _areSharesDone = true;
            foreach (var (user, share) in restored.Users.Where(static one => !one.Value.WasPlanned))
            {
                progress.Planned(1);
                dispatcher.RestoreGuest(accepted, progress, new UserKey(accepted.App, user), share);
            }
        }

        return true;
    }

    // What no process has planned.
    private async ValueTask<bool> TryNewAsync()
    {
        if (restored.IsComplete)
        {
            return true;
        }

        if (accepted.To.Topic is not null)
        {
            return restored.IsWithdrawnFromAll || await TryMembersAsync().ConfigureAwait(false);
        }

        _members ??= new MemberPage([.. accepted.To.Users.Where(user => !WasPlanned(user))], IsLast: true);
        return await _walk.TryAsync(_members.Value.Users, areRead: false, TakeShare).ConfigureAwait(false);
    }

    private async ValueTask<bool> TryMembersAsync()
    {
        var line = FanOutLine.Of(accepted);
        if (_members is null && await dispatcher.Reads.TryPageAsync(line.Topic, restored.Reached, FanOutPages.Members).ConfigureAwait(false) is { } read)
        {
            _members = read;
        }

        if (_members is not { } page)
        {
            if (!dispatcher.IsOver(accepted))
            {
                return false;
            }

            progress.Unread();
            return true;
        }

        if (!await _walk.TryAsync(page.Users, areRead: true, TakeMember).ConfigureAwait(false))
        {
            return false;
        }

        if (!page.IsLast || dispatcher.FanOuts.Holds(line))
        {
            var served = restored.Users.Where(static one => one.Value.WasPlanned).Select(static one => one.Key);
            dispatcher.FanOuts.Add(new FanOut(accepted, progress, Guests, page.Users.Count > 0 ? page.Users[^1] : restored.Reached, served, restored.Withdrawn)
            {
                Rest = _lost.Count > 0 ? TryLostAsync : null,
            });
            _isFanOut = true;
        }

        return true;
    }

    // Users of whom the registry knows nothing, though the previous process began deliveries for them. Nothing says that their devices were deleted, so they are not gone: they
    // cannot be read, until they can or the event is over. Nobody else of the event waits for them.
    private async ValueTask<bool> TryLostAsync()
    {
        for (; _lost.Count > 0; _lost.RemoveAt(0))
        {
            var key = new UserKey(accepted.App, _lost[0]);
            var share = restored.Of(key.User);
            var snapshot = await dispatcher.Reads.TryUserAsync(key).ConfigureAwait(false);
            if (snapshot is not null && share.IsLost(snapshot))
            {
                dispatcher.Faulted(RowsLost);
                snapshot = null;
            }

            if (snapshot is null && !dispatcher.IsOver(accepted))
            {
                return false;
            }

            dispatcher.Restore(accepted, progress, key, snapshot, share);
        }

        if (restored.IsComplete)
        {
            dispatcher.Ended(progress);
        }
        else
        {
            dispatcher.Dispatched(accepted, progress);
        }

        return true;
    }

    private bool WasPlanned(string user) => restored.Users.TryGetValue(user, out var share) && share.WasPlanned;

    private void TakeShare(UserKey key, UserSnapshot? snapshot)
    {
        var share = restored.Of(key.User);
        if (snapshot is not null && share.IsLost(snapshot))
        {
            _lost.Add(key.User);
        }
        else
        {
            dispatcher.Restore(accepted, progress, key, snapshot, share);
        }
    }

    // A member whose devices were not planned; his session may have been given it as a guest.
    private void TakeMember(UserKey key, UserSnapshot? snapshot)
    {
        if (WasPlanned(key.User) || restored.Of(key.User).IsWithdrawn)
        {
            return;
        }

        if (snapshot is null)
        {
            dispatcher.EndUnread(accepted, progress);
        }
        else
        {
            dispatcher.Dispatch(accepted, progress, key, snapshot, Guests);
        }
    }
}
