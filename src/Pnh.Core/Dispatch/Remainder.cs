using Pnh.Core.Events;
using Pnh.Core.FanOuts;
using Pnh.Core.Progress;
using Pnh.Core.Sessions;
using Pnh.Core.Users;

namespace Pnh.Core.Dispatch;

/// <summary>
/// The rest of a dispatch, for which the registry has to be read, or which is for many. Where it cannot be read, the rest waits, and goes on where it stopped; what has no time left ends
/// as unread. For one thread at a time.
/// </summary>
internal sealed class Remainder(Dispatcher dispatcher, Event accepted, EventProgress? progress, Dispatcher.Targets targets)
{
    private readonly UserWalk _walk = new(dispatcher, accepted, targets.Served);
    private MemberPage? _members;

    /// <summary>Goes on; false = the registry cannot be read now, so it has to be called again.</summary>
    internal ValueTask<bool> TryAsync() => targets.Users is { } users ? TryAsync(users, areRead: false, targets.Joined, targets.Members) : TryTopicAsync();

    private async ValueTask<bool> TryAsync(IReadOnlyList<string> users, bool areRead, Subscriber[] joined, TopicMembers? members)
    {
        if (!await _walk.TryAsync(users, areRead, Take).ConfigureAwait(false))
        {
            return false;
        }

        await dispatcher.Joined.ServeAsync(accepted, progress, joined, members).ConfigureAwait(false);
        dispatcher.Dispatched(accepted, progress);
        return true;
    }

    // A topic that is not in memory, or whose events wait for one before them.
    private async ValueTask<bool> TryTopicAsync()
    {
        // Sessions wait neither for a million members nor for a registry: those alone may be more than a page.
        var line = FanOutLine.Of(accepted);
        var sessions = _members is null ? dispatcher.SessionsOf(line.Topic) : TopicSessions.None;
        if (_members is null && sessions.Members.Length < FanOutPages.Members && !dispatcher.FanOuts.Holds(line))
        {
            _members = await dispatcher.Reads.TryPageAsync(line.Topic, string.Empty, FanOutPages.Members).ConfigureAwait(false) is { IsLast: true } few ? few : null;
        }

        if (_members is { Users: var members })
        {
            return await TryAsync(members, areRead: true, targets.Joined, new TopicMembers(members)).ConfigureAwait(false);
        }

        var fanOut = new FanOut(accepted, progress!, sessions, after: string.Empty);
        await dispatcher.Early.BeginAsync(fanOut, dispatcher.FanOuts.Of(line)).ConfigureAwait(false);
        await dispatcher.Joined.ServeAsync(accepted, progress, sessions.Guests, members: null).ConfigureAwait(false);
        dispatcher.FanOuts.Add(fanOut);
        return true;
    }

    private void Take(UserKey key, UserSnapshot? snapshot)
    {
        if (snapshot is null)
        {
            dispatcher.EndUnread(accepted, progress);
        }
        else
        {
            dispatcher.Dispatch(accepted, progress, key, snapshot);
        }
    }
}
