using System.Collections.Concurrent;
using Pnh.Core.Events;
using Pnh.Core.Sessions;

namespace Pnh.Channels.Links;

/// <summary>An edge's end of a link: what the hub says to sessions becomes calls of theirs, and their calls of the hub become items.</summary>
internal sealed class EdgeLink
{
    private const int BlockSize = 16;
    private readonly ConcurrentDictionary<long, EdgeSession> _sessions = new();
    private readonly ConcurrentDictionary<long, TaskCompletionSource<LinkAnswer>> _calls = new();
    private readonly EventReader _events;
    private readonly TimeProvider _time;
    private long _lastHandle;
    private long _lastCall;
    private volatile bool _isEnded;

    public EdgeLink(EventReader events, TimeProvider time)
    {
        _events = events;
        _time = time;
    }

    /// <summary>What goes to the hub.</summary>
    public LinkQueue Output { get; } = new();

    /// <summary>How many sessions it carries.</summary>
    public int Sessions => _sessions.Count;

    /// <summary>Gives a session a number here.</summary>
    public EdgeSession Add(SessionOpened opened)
    {
        var session = new EdgeSession(opened, Interlocked.Increment(ref _lastHandle), this);
        _sessions[session.Handle] = session;
        return session;
    }

    /// <summary>The session has ended.</summary>
    public void Remove(EdgeSession session) => _sessions.TryRemove(session.Handle, out _);

    /// <summary>Asks the hub. Throws <see cref="InvalidOperationException"/> when the hub fails or the link ends before the answer.</summary>
    public async Task<LinkAnswer> AskAsync(EdgeSession session, LinkItemKind kind, Action<LinkWriter> members, CancellationToken cancellationToken)
    {
        var call = Interlocked.Increment(ref _lastCall);
        var answered = _calls[call] = new TaskCompletionSource<LinkAnswer>(TaskCreationOptions.RunContinuationsAsynchronously);
        using (var item = session.Begin(kind))
        {
            members(item.Members.Number(call));
        }

        if (_isEnded)
        {
            EndCalls(); // it may have ended before the call was among them
        }

        var answer = await answered.Task.WaitAsync(cancellationToken);
        return answer.HasFailed ? throw new InvalidOperationException("The hub failed, or its link broke.") : answer;
    }

    /// <summary>Takes an item; never waits. Called by the one reader of the link. Throws <see cref="LinkFormatException"/> for what no hub says.</summary>
    public void Receive(LinkItemKind kind, ReadOnlyMemory<byte> members)
    {
        var reader = new LinkReader(members.Span);
        if (kind == LinkItemKind.Send)
        {
            Send(reader);
            return;
        }

        var number = reader.Number();
        if (kind == LinkItemKind.Answer)
        {
            var answer = LinkAnswer.Read(reader);
            if (_calls.TryRemove(number, out var call))
            {
                call.TrySetResult(answer);
            }
        }
        else if (_sessions.TryGetValue(number, out var session))
        {
            // Else it is gone: its Closed is on the way, and says it all.
            Receive(kind, session, reader);
        }
    }

    /// <summary>The link is no more: its calls fail, its sessions are closed, and their clients come back.</summary>
    public void End()
    {
        _isEnded = true;
        Output.End();
        EndCalls();
        foreach (var (_, session) in _sessions)
        {
            session.Way.Close(session.Key.Session, SessionClose.HubError);
        }
    }

    // One event for many sessions: their frames share its bytes, and what a block of them will touch is fetched together.
    private void Send(LinkReader reader)
    {
        var accepted = reader.Event(_events, _time);
        var block = new Block();
        while (reader.Left > 0)
        {
            var count = 0;
            while (count < BlockSize && reader.Left > 0)
            {
                if (_sessions.TryGetValue(reader.Number(), out var session))
                {
                    block[count++] = session;
                }
            }

            Give(block[..count], accepted);
        }
    }

    private static void Give(ReadOnlySpan<EdgeSession> block, Event accepted)
    {
        if (block.Length > 1)
        {
            EdgeSession.Prefetch(block);
        }

        foreach (var session in block)
        {
            session.Give(accepted, isReplay: false);
        }
    }

    private void EndCalls()
    {
        foreach (var (number, call) in _calls)
        {
            _calls.TryRemove(number, out _);
            call.TrySetResult(LinkAnswer.Failed);
        }
    }

    private void Receive(LinkItemKind kind, EdgeSession session, LinkReader reader)
    {
        switch (kind)
        {
            case LinkItemKind.Replay:
                session.Give(reader.Event(_events, _time), isReplay: true);
                break;
            case LinkItemKind.Withdraw:
                session.Withdraw(reader.Withdrawal());
                break;
            case LinkItemKind.Close:
                session.Way.Close(session.Key.Session, reader.Close());
                break;
            case LinkItemKind.GoOn:
                session.GoOn(reader.Number());
                break;
            default:
                throw new LinkFormatException($"{kind} does not go to an edge");
        }

        reader.End();
    }

    [System.Runtime.CompilerServices.InlineArray(BlockSize)]
    private struct Block
    {
        private EdgeSession _first;
    }
}
