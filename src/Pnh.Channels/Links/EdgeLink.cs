using System.Collections.Concurrent;
using Pnh.Channels.Links.Protocol;
using Pnh.Core.Events;
using Pnh.Core.Sessions;

namespace Pnh.Channels.Links;

/// <summary>
/// One of an edge's links to its hub, as its sessions have it: it outlives each connection that carries it. What the hub says to sessions becomes calls of theirs, and what they say becomes items.
/// While there is no connection a session keeps what it is, and the link what its client acknowledged; both are said on the next one, to the same hub or to its next process. Thread-safe.
/// </summary>
internal sealed class EdgeLink
{
    private const int BlockSize = 16;
    private readonly ConcurrentDictionary<long, EdgeSession> _sessions = new();
    private readonly EdgeCalls _calls = new();
    private readonly HeldReports _reports = new();
    private readonly LinkQueue _nowhere = new();
    private readonly EventReader _events;
    private readonly TimeProvider _time;
    private LinkQueue _output;
    private TaskCompletionSource _ready = NewSignal();
    private long _brokeAt = -1;

    public EdgeLink(EventReader events, TimeProvider time)
    {
        _events = events;
        _time = time;
        _nowhere.Complete();
        _output = _nowhere;
    }

    /// <summary>How many sessions it carries.</summary>
    public int Sessions => _sessions.Count;

    /// <summary>What clients reported and the hub has not noted yet.</summary>
    public int HeldReports => _reports.Count;

    /// <summary>True while the hub takes everything; false from a break until its process of then has recovered.</summary>
    public bool IsReady => Volatile.Read(ref _ready).Task.IsCompleted;

    /// <summary>Time-stamp of the last break; 0 = it is ready; null = it never was.</summary>
    public long? BrokenSince => IsReady ? 0 : Volatile.Read(ref _brokeAt) is >= 0 and var since ? since : null;

    /// <summary>Where items go now.</summary>
    public LinkQueue Output => Volatile.Read(ref _output);

    /// <summary>True while there is a connection.</summary>
    public bool IsConnected => !ReferenceEquals(Output, _nowhere);

    /// <summary>True while what is said to this output goes to the hub.</summary>
    public bool IsCarriedBy(LinkQueue output) => IsConnected && ReferenceEquals(output, Output);

    /// <summary>This node's clock.</summary>
    public TimeProvider Time => _time;

    /// <summary>Completes when the link is ready. Throws <see cref="TimeoutException"/> after <paramref name="patience"/>.</summary>
    public Task UntilReadyAsync(TimeSpan patience, CancellationToken cancellationToken) =>
        IsReady ? Task.CompletedTask : Volatile.Read(ref _ready).Task.WaitAsync(patience, _time, cancellationToken);

    /// <summary>Carries the session from now on, under this number.</summary>
    public EdgeSession Add(SessionOpened opened, long handle)
    {
        var session = new EdgeSession(opened, handle, this);
        _sessions[session.Handle] = session;
        return session;
    }

    /// <summary>The session has ended.</summary>
    public void Remove(EdgeSession session) => _sessions.TryRemove(session.Handle, out _);

    /// <summary>There is a connection, and the hub has greeted: it is told which sessions there are and what they hold.</summary>
    public void Connect(LinkQueue output)
    {
        Volatile.Write(ref _output, output);
        var held = _reports.BySession();
        foreach (var (_, session) in _sessions)
        {
            session.Reopen(output, held[session.Key]);
        }

        output.Begin(LinkItemKind.Synced).Dispose();
    }

    /// <summary>The connection is no more: calls fail, sessions wait.</summary>
    public void Disconnect()
    {
        Volatile.Write(ref _output, _nowhere);
        _reports.Stop();
        if (IsReady)
        {
            Volatile.Write(ref _brokeAt, _time.GetTimestamp());
            Volatile.Write(ref _ready, NewSignal());
        }

        _calls.EndAll();
        foreach (var (_, session) in _sessions)
        {
            session.Wait(_nowhere);
        }
    }

    /// <summary>No hub came back in time: the sessions are closed, and their clients come back by themselves.</summary>
    public void GiveUp()
    {
        foreach (var (_, session) in _sessions)
        {
            session.Way.Close(session.Key.Session, SessionClose.HubError);
        }
    }

    /// <summary>Asks the hub. Throws <see cref="InvalidOperationException"/> when the hub fails or the connection breaks before the answer.</summary>
    public async Task<LinkAnswer> AskAsync(EdgeSession session, LinkItemKind kind, Action<LinkWriter> members, CancellationToken cancellationToken)
    {
        var answer = await _calls.AskAsync(call => session.Say(kind, item => members(item.Number(call)))).WaitAsync(cancellationToken);
        return answer.HasFailed ? throw new InvalidOperationException("The hub failed, or its link broke.") : answer;
    }

    /// <summary>Called with each session that was given away to another node.</summary>
    public Action<EdgeSession> GivenAway { get; set; } = static _ => { };

    /// <summary>Asks the hub for a session that another node may hold. Its topics; null = nobody gives it away.</summary>
    public async Task<IReadOnlyList<string>?> ClaimAsync(SessionKey key, long seq)
    {
        var answer = await _calls.AskAsync(call =>
        {
            var output = Output;
            using (var item = output.Begin(LinkItemKind.Claim))
            {
                item.Members.Number(call).Key(key).Number(seq);
            }

            return IsCarriedBy(output);
        });
        return answer.Topics;
    }

    /// <summary>The client has the event, or answered it: kept until the hub has it on stable storage.</summary>
    public void Report(EdgeSession session, in HeldReport report) => _reports.Add(session, report);

    /// <summary>Takes an item; never waits. Called by the one reader of the connection. Throws <see cref="LinkFormatException"/> for what no hub says.</summary>
    public void Receive(LinkItemKind kind, ReadOnlyMemory<byte> members)
    {
        var reader = new LinkReader(members.Span);
        switch (kind)
        {
            case LinkItemKind.Send:
                Send(reader);
                break;
            case LinkItemKind.Recovered:
                reader.End();
                _reports.Start(Output);
                Volatile.Read(ref _ready).TrySetResult();
                break;
            case LinkItemKind.Noted:
                _reports.Noted(reader.Number());
                reader.End();
                break;
            case LinkItemKind.Answer:
                _calls.End(reader.Number(), LinkAnswer.Read(reader));
                break;
            case LinkItemKind.Claimed:
                TakeClaimed(reader);
                break;
            default:
                // Of an unknown session nothing: it has ended, and its Closed is on the way, which says it all.
                if (_sessions.TryGetValue(reader.Number(), out var session))
                {
                    Receive(kind, session, reader);
                }

                break;
        }
    }

    private static TaskCompletionSource NewSignal() => new(TaskCreationOptions.RunContinuationsAsynchronously);

    private void TakeClaimed(LinkReader reader)
    {
        var (number, isGiven, topics) = (reader.Number(), reader.Flag(), reader.Texts());
        reader.End();
        _calls.End(number, LinkAnswer.Given(isGiven ? topics : null));
    }

    private async Task SurrenderAsync(EdgeSession session, long seq)
    {
        var topics = await session.Way.SurrenderAsync(session.Key.Session, seq);
        if (topics is not null)
        {
            GivenAway(session);
        }

        session.Say(LinkItemKind.Surrendered, members => members.Flag(topics is not null).Texts(topics ?? []));
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
            case LinkItemKind.Surrender:
                _ = SurrenderAsync(session, reader.Number());
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
