using Microsoft.Extensions.Logging;

namespace Pnh.Channels.WebSockets.Sessions;

/// <summary>How a session is, and how the hub knows it; later ones are further from a client that hears.</summary>
internal enum SessionPresence
{
    /// <summary>A connection carries it.</summary>
    Online,

    /// <summary>It lost its connection and lingers.</summary>
    Offline,

    /// <summary>It has ended.</summary>
    Gone,
}

/// <summary>
/// What the hub hears of a session's life, one thing at a time and in order: <c>Opened</c>, then <c>Detached</c> and <c>Resumed</c> in turns,
/// <c>Closed</c> once and last. The thread that changes the session reports; when another is reporting, that one looks again afterwards. Thread-safe.
/// </summary>
/// <param name="session">Which.</param>
/// <param name="parts">What sessions share.</param>
internal sealed partial class SessionReports(Session session, SessionParts parts)
{
    private SessionPresence _told;
    private bool _hasTurn;
    private TaskCompletionSource? _turnGiven;

    /// <summary>Tells the hub what it does not know yet; never throws. Not for senders.</summary>
    public void Report()
    {
        while (TryTakeTurn(out var news))
        {
            try
            {
                Tell(news);
            }
            catch (Exception failure)
            {
                Log.ReportFailed(parts.Log, failure); // on the pool or the sweep an exception would end the process
            }
            finally
            {
                GiveTurn();
            }
        }
    }

    /// <summary>Waits until nobody reports; until <see cref="GiveTurn"/> only the caller tells the hub anything.</summary>
    public async ValueTask TakeTurnAsync(CancellationToken cancellationToken)
    {
        while (true)
        {
            Task given;
            lock (this)
            {
                if (!_hasTurn)
                {
                    _hasTurn = true;
                    return;
                }

                _turnGiven ??= new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
                given = _turnGiven.Task;
            }

            await given.WaitAsync(cancellationToken);
        }
    }

    /// <summary>The end of a turn. The caller reports afterwards: what changed meanwhile was left to it.</summary>
    public void GiveTurn()
    {
        TaskCompletionSource? given;
        lock (this)
        {
            _hasTurn = false;
            given = _turnGiven;
            _turnGiven = null;
        }

        given?.TrySetResult();
    }

    /// <summary>In a turn: the hub knows this of the session, without being told here.</summary>
    public void Knows(SessionPresence presence) => _told = presence;

    /// <summary>In a turn, before a resume: a session that is taken over was never without a connection, as far as the hub knows.</summary>
    public void TellDetached()
    {
        if (_told == SessionPresence.Online)
        {
            _told = SessionPresence.Offline;
            Tell(_told);
        }
    }

    private void Tell(SessionPresence news)
    {
        if (news == SessionPresence.Gone)
        {
            parts.Events.Closed(session.Key);
        }
        else
        {
            parts.Events.Detached(session.Key);
        }
    }

    private bool TryTakeTurn(out SessionPresence news)
    {
        lock (this)
        {
            news = session.Presence;
            if (_hasTurn || news <= _told)
            {
                return false;
            }

            _told = news;
            return _hasTurn = true;
        }
    }

    private static partial class Log
    {
        [LoggerMessage(1, LogLevel.Error, "The hub failed while it heard of a session's end.", EventName = "ReportFailed")]
        public static partial void ReportFailed(ILogger logger, Exception exception);
    }
}
