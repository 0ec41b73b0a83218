using Microsoft.Extensions.Logging;

namespace Pnh.Channels.WebSockets.Sessions;

/// <summary>
/// What the hub hears of a session's life, one thing at a time and in order: <c>Opened</c>, then <c>Detached</c> and <c>Resumed</c> in turns,
/// <c>Closed</c> once and last. The thread that changes the session reports; when another is reporting, that one looks again afterwards.
/// </summary>
internal sealed partial class Session
{
    private Told _told;
    private bool _hasTurn;
    private TaskCompletionSource? _turnGiven;

    /// <summary>What the hub knows.</summary>
    private enum Told
    {
        Online,
        Offline,
        Gone,
    }

    /// <summary>Tells the hub what it does not know yet; never throws. Not for senders.</summary>
    public void Report()
    {
        while (TryTakeTurn(out var news))
        {
            try
            {
                if (news == Told.Gone)
                {
                    _parts.Events.Closed(Key);
                }
                else
                {
                    _parts.Events.Detached(Key);
                }
            }
            catch (Exception failure)
            {
                Log.ReportFailed(_parts.Log, failure); // on the pool or the sweep an exception would end the process
            }
            finally
            {
                GiveTurn();
            }
        }
    }

    /// <summary>The hub ended a session that no connection can report.</summary>
    void IThreadPoolWorkItem.Execute() => Report();

    private bool TryTakeTurn(out Told news)
    {
        lock (this)
        {
            news = _end is not null ? Told.Gone : _isDetached ? Told.Offline : _told;
            if (_hasTurn || news <= _told)
            {
                return false;
            }

            _told = news;
            return _hasTurn = true;
        }
    }

    private async ValueTask TakeTurnAsync(CancellationToken cancellationToken)
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

    private void GiveTurn()
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

    // Caller has the turn: a session that is taken over was never without a connection, as far as the hub knows.
    private void ReportDetachedInTurn()
    {
        if (_told == Told.Online)
        {
            _told = Told.Offline;
            _parts.Events.Detached(Key);
        }
    }

    private static partial class Log
    {
        [LoggerMessage(1, LogLevel.Error, "The hub failed while it heard of a session's end.", EventName = "ReportFailed")]
        public static partial void ReportFailed(ILogger logger, Exception exception);
    }
}
