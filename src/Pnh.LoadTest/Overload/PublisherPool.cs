using System.Diagnostics;
using System.Net;
using Pnh.LoadTest.Wire;

namespace Pnh.LoadTest.Overload;

/// <summary>
/// All connections, in turn: each stands for a publisher of its own. What is due goes to the next idle one; when none is idle it waits here, and its
/// clock runs: latency counts from when it was due.
/// </summary>
internal sealed class PublisherPool
{
    /// <summary>A publisher that gets no connection for so long gives up, as a real one would. Far above the 200 ms that a call may take.</summary>
    private static readonly long Patience = Stopwatch.Frequency;

    private readonly Queue<PublisherConnection> _idle = new();
    private readonly Queue<Due> _waiting = new();
    private readonly PublisherConnection[] _all;
    private readonly EventRequest[] _requests;
    private readonly EventBook _book;
    private Func<PublisherConnection, Due?>? _endless;

    public PublisherPool(LoadOptions options, Loop loop, string run, EventBook book)
    {
        _book = book;
        _requests = [.. Mix.Classes.Select(name => new EventRequest(options, run, name))];
        var bytes = _requests.Max(static request => request.Length);
        var server = new IPEndPoint(IPAddress.Parse(options.Host), options.Port);
        _all = [.. Enumerable.Range(0, options.Connections).Select(index => new PublisherConnection(loop, server, index, bytes, Answered))];
        foreach (var connection in _all)
        {
            _idle.Enqueue(connection);
        }
    }

    /// <summary>Every connection was made.</summary>
    public bool Stands => Array.TrueForAll(_all, static connection => connection.Stands);

    /// <summary>Requests that found no idle connection, the most at once since <see cref="Watch"/>.</summary>
    public int MostWaiting { get; private set; }

    /// <summary>True when every connection is idle.</summary>
    public bool IsQuiet => _waiting.Count == 0 && _idle.Count == _all.Length;

    /// <summary>Counts <see cref="MostWaiting"/> from here on.</summary>
    public void Watch() => MostWaiting = _waiting.Count;

    /// <summary>Sends it, or lets it wait for a connection.</summary>
    public void Post(in Due due, long now)
    {
        due.Recorder.Schedule(due.Time, now);
        if (!_idle.TryDequeue(out var connection))
        {
            _waiting.Enqueue(due);
            MostWaiting = Math.Max(MostWaiting, _waiting.Count);
        }
        else if (due.Obey && connection.Holds(due.Class, now))
        {
            _idle.Enqueue(connection);
            due.Recorder.HoldBack();
        }
        else
        {
            Send(connection, due);
        }
    }

    /// <summary>As fast as <paramref name="connections"/> connections take it, each one event after the other, until there is no next.</summary>
    public void Saturate(int connections, Func<Due?> next)
    {
        _endless = connection => connection.Index < connections ? next() : null;
        for (var i = _idle.Count; i > 0; i--)
        {
            GoOn(_idle.Dequeue());
        }
    }

    /// <summary>Forgets what still waits, at the end of a phase that the hub could not follow.</summary>
    public void Drop()
    {
        _endless = null;
        _waiting.Clear();
    }

    private void Send(PublisherConnection connection, in Due due) => connection.Post(_requests[due.Class], _book.Add(due.Class, due.User), due);

    private void Answered(PublisherConnection connection, int status, int retryAfter)
    {
        var due = connection.Due;
        _book.Answer(connection.Number, status);
        due.Recorder.Answer(due.Class, due.Time, connection.Written, status, retryAfter >= 0);
        if (retryAfter > 0)
        {
            connection.Hold(due.Class, retryAfter);
        }

        GoOn(connection);
    }

    private void GoOn(PublisherConnection connection)
    {
        if (_endless?.Invoke(connection) is { } endless)
        {
            endless.Recorder.Schedule(endless.Time, endless.Time);
            Send(connection, endless);
        }
        else if (TryTakeWaiting(connection, out var due))
        {
            Send(connection, due);
        }
        else
        {
            _idle.Enqueue(connection);
        }
    }

    private bool TryTakeWaiting(PublisherConnection connection, out Due due)
    {
        var now = Stopwatch.GetTimestamp();
        while (_waiting.TryDequeue(out due))
        {
            if (now - due.Time >= Patience)
            {
                due.Recorder.GiveUp();
            }
            else if (due.Obey && connection.Holds(due.Class, now))
            {
                due.Recorder.HoldBack();
            }
            else
            {
                return true;
            }
        }

        return false;
    }
}
