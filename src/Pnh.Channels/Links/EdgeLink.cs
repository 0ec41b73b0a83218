using System.Collections.Concurrent;
using System.Runtime.InteropServices;
using Pnh.Channels.Links.Protocol;
using Pnh.Core.Events;
using Pnh.Core.Sessions;
using Pnh.Core.Timing;

namespace Pnh.Channels.Links;

/// <summary>
/// One of an edge's links to its hub, as its sessions have it: it outlives each connection that carries it. What the hub says to sessions becomes calls of theirs, and what they say becomes items.
/// While there is no connection a session keeps what it is, and the link what its client acknowledged; both are said on the next one, to the same hub or to its next process. Thread-safe.
/// </summary>
internal sealed class EdgeLink
{
    private readonly ConcurrentDictionary<long, EdgeSession> _sessions = new();
    private readonly EdgeCalls _calls = new();
    private readonly HeldReports _reports = new();
    private readonly LinkQueue _nowhere = new();
    private readonly EdgeBacklog _backlog;
    private readonly List<long> _handles = []; // of the event that is read
    private readonly TimeProvider _time;
    private LinkQueue _output;
    private TaskCompletionSource _ready = NewSignal();
    private long _brokeAt = -1;

    /// <param name="turns">Of all links of the edge: an event for many sessions gives way after each step.</param>
    /// <param name="time">Clock.</param>
    public EdgeLink(Turns turns, TimeProvider time)
    {
        _backlog = new EdgeBacklog(turns, Give);
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

    /// <summary>There is a connection, and the hub has greeted: it hears which sessions there are and what they hold.</summary>
    public void Connect(LinkQueue output)
    {
        Volatile.Write(ref _output, output);
        _reports.Sort();
        foreach (var (_, session) in _sessions)
        {
            session.Reopen(output);
        }

        output.Begin(LinkItemKind.Synced).Dispose();
    }

    /// <summary>Completes when the connection may be read on. Throws what a session threw: that is a bug.</summary>
    public Task UntilRoomAsync() => _backlog.UntilRoomAsync();

    /// <summary>The connection is read no longer: completes when sessions have what came. Returns what a session threw; null = nothing.</summary>
    public Task<Exception?> SettleAsync() => _backlog.SettleAsync();

    /// <summary>The connection is no more, and what came is settled: calls fail, sessions wait.</summary>
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

    /// <summary>True when a stranger may read what goes to the hub: no client's token goes there.</summary>
    public bool IsPlain { get; set; }

    /// <summary>Asks the hub about a session that the link does not carry.</summary>
    public Task<LinkAnswer> AskAsync(LinkItemKind kind, Action<LinkWriter> members) => _calls.AskAsync(call =>
    {
        var output = Output;
        using (var item = output.Begin(kind))
        {
            members(item.Members.Number(call));
        }

        return IsCarriedBy(output);
    });

    /// <summary>The client has the event, or answered it: kept until the hub has it on stable storage.</summary>
    public void Report(EdgeSession session, in HeldReport report) => _reports.Add(session, report);

    /// <summary>The events that the session has reported by now, while sessions are said again.</summary>
    public IReadOnlyList<string> ReportsOf(EdgeSession session) => _reports.Of(session.Key);

    /// <summary>
    /// Takes an item; never waits. Called by the one reader of the connection. Calls go to their sessions at once, all else in its order. Throws <see cref="LinkFormatException"/> for what no hub says.
    /// </summary>
    public void Receive(LinkItemKind kind, ReadOnlyMemory<byte> members)
    {
        var reader = new LinkReader(members.Span);
        switch (kind)
        {
            case LinkItemKind.Frame:
                Send(reader);
                break;
            case LinkItemKind.Recovered:
                Do(reader, Recovered);
                break;
            case LinkItemKind.Noted:
                var noted = reader.Number();
                Do(reader, () => _reports.Noted(noted));
                break;
            case LinkItemKind.Answer:
                var (asked, answer) = (reader.Number(), LinkAnswer.Read(reader));
                _backlog.Do(() => _calls.End(asked, answer), members.Length);
                break;
            case LinkItemKind.Claimed:
                var (claim, isGiven, topics) = (reader.Number(), reader.Flag(), reader.Texts());
                Do(reader, () => _calls.End(claim, LinkAnswer.Given(isGiven ? topics : null)));
                break;
            case LinkItemKind.Admitted:
                var (admission, refusal, proof) = (reader.Number(), reader.OptionalText(), reader.Bytes().ToArray());
                Do(reader, () => _calls.End(admission, LinkAnswer.Admitted(new(proof, refusal))));
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

    private void Recovered()
    {
        _reports.Start(Output);
        Volatile.Read(ref _ready).TrySetResult();
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

    private void Send(LinkReader reader)
    {
        var accepted = reader.Frame(_time);
        _handles.Clear();
        while (reader.Left > 0)
        {
            _handles.Add(reader.Number());
        }

        var handles = CollectionsMarshal.AsSpan(_handles);
        if (accepted.Class == EventClass.Call)
        {
            // The hub's end has it overtake too: calls and the rest have an order each.
            Give(handles, accepted);
        }
        else
        {
            _backlog.Give(handles, accepted, reader.Length);
        }
    }

    private void Give(ReadOnlySpan<long> handles, Event accepted)
    {
        var block = new EdgeSession.Block();
        while (!handles.IsEmpty)
        {
            var (count, most) = (0, Math.Min(EdgeSession.Block.Size, handles.Length));
            foreach (var handle in handles[..most])
            {
                if (_sessions.TryGetValue(handle, out var session))
                {
                    block[count++] = session;
                }
            }

            EdgeSession.Give(block[..count], accepted);
            handles = handles[most..];
        }
    }

    private void Receive(LinkItemKind kind, EdgeSession session, LinkReader reader)
    {
        switch (kind)
        {
            case LinkItemKind.ReplayFrame:
                var replayed = reader.Frame(_time);
                Do(reader, () => session.Give(replayed, isReplay: true));
                break;
            case LinkItemKind.Withdraw:
                var withdrawal = reader.Withdrawal();
                Do(reader, () => session.Withdraw(withdrawal));
                break;
            case LinkItemKind.Close:
                var close = reader.Close();
                Do(reader, () => session.Way.Close(session.Key.Session, close));
                break;
            case LinkItemKind.Missed:
                var missed = reader.Missed(_time);
                Do(reader, () => session.Way.TryTellMissed(session.Key.Session, missed));
                break;
            case LinkItemKind.GoOn:
                var heard = reader.Number();
                Do(reader, () => session.GoOn(heard));
                break;
            case LinkItemKind.Surrender:
                var seq = reader.Number();
                Do(reader, () => _ = SurrenderAsync(session, seq));
                break;
            default:
                throw new LinkFormatException($"{kind} does not go to an edge");
        }
    }

    // The item is read to its end.
    private void Do(in LinkReader read, Action action)
    {
        read.End();
        _backlog.Do(action, read.Length);
    }
}
