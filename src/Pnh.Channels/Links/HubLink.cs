using System.Collections.Concurrent;
using Microsoft.Extensions.Logging;
using Pnh.Channels.Links.Protocol;
using Pnh.Core.Events;
using Pnh.Core.Sessions;

namespace Pnh.Channels.Links;

/// <summary>The hub's end of a connection of a link: what an edge says of its sessions becomes calls of the hub, those of each session in their order.</summary>
internal sealed class HubLink : ISessionCarrier
{
    private readonly ConcurrentDictionary<long, HubSession> _sessions = new();
    private readonly LinkClaims _claims;
    private readonly ConcurrentDictionary<HubSession, bool> _owedRoom = new();
    private readonly LinkHolds _holds = new();
    private string _app = "";
    private long _highest;
    private long _reports;
    private int _late;
    private volatile bool _isEnded;

    public HubLink(ISessionEvents hub, SessionPasses passes, TimeProvider time, ILogger log)
    {
        Door = new LinkDoor(passes);
        Hub = hub;
        Time = time;
        Log = log;
        Synced = Recovered;
        Orders = new RecentOrders(time);
        _claims = new LinkClaims(hub, log);
        Output.HasRoom = GiveRoom;
    }

    /// <summary>Who hears what the sessions say.</summary>
    public ISessionEvents Hub { get; }

    /// <summary>This node's clock.</summary>
    public TimeProvider Time { get; }

    /// <summary>Log.</summary>
    public ILogger Log { get; }

    /// <summary>What goes to the edge.</summary>
    public LinkQueue Output { get; } = new();

    /// <summary>How many sessions the edge has here.</summary>
    public int Sessions => _sessions.Count;

    /// <summary>True once the connection is no more.</summary>
    public bool IsEnded => _isEnded;

    /// <summary>What an edge said that no edge says, found when its item's turn came; null = nothing. The output has ended then.</summary>
    public LinkFormatException? Fault { get; private set; }

    /// <summary>Called once the edge has said which sessions it has. Unless it is set, the edge may go on at once: the hub has recovered.</summary>
    public Action Synced { get; set; }

    /// <summary>The connection that this one takes the place of, of the same edge; null = none. What it still says of a session that is said again here does not count.</summary>
    public HubLink? Older { get; set; }

    /// <summary>Called with each session that the edge says again. Returns the connection that had it; null = it is not known to have broken.</summary>
    public Func<SessionKey, HubLink?> Reopened { get; set; } = static _ => null;

    /// <summary>Whom the edge may speak for.</summary>
    public LinkDoor Door { get; }

    /// <summary>Called with what the edge says of itself. Must return at once.</summary>
    public Action<NodeStatus> Status { get; set; } = static _ => { };

    /// <summary>Called when <see cref="Reports"/> may have grown, by any thread. Must return at once.</summary>
    public Action Reported { get; set; } = static () => { };

    /// <summary>What sessions were ordered that their edge may not have.</summary>
    public RecentOrders Orders { get; }

    /// <summary>Reports that were heard; -1 while the hub has still to take one of them.</summary>
    public long Reports => Volatile.Read(ref _late) == 0 ? Volatile.Read(ref _reports) : -1;

    /// <summary>Takes an item; returns at once, whatever the hub waits for. Called by the one reader of the link. Throws <see cref="LinkFormatException"/> for what no edge says: it is to be ended then.</summary>
    public void Receive(LinkItemKind kind, ReadOnlyMemory<byte> members)
    {
        var reader = new LinkReader(members.Span);
        switch (kind)
        {
            case LinkItemKind.Opened:
                Open(reader);
                break;
            case LinkItemKind.Reopen:
                Reopen(reader);
                break;
            case LinkItemKind.Holds:
                _holds.Keep(reader);
                break;
            case LinkItemKind.Synced:
                reader.End();
                Synced();
                break;
            case LinkItemKind.Reported:
                TakeReport(reader);
                break;
            case LinkItemKind.Claim:
                Claim(reader);
                break;
            case LinkItemKind.Admit:
                Door.Admit(reader, Output);
                break;
            case LinkItemKind.Status:
                var status = NodeStatus.Read(ref reader);
                reader.End();
                Status(status);
                break;
            default:
                var handle = reader.Number();
                if (_sessions.TryGetValue(handle, out var session))
                {
                    session.Receive(kind, members[^reader.Left..]);
                }
                else if (handle > _highest)
                {
                    throw new LinkFormatException("an item is of a session that the link never had");
                }
                else if (kind is LinkItemKind.Acked or LinkItemKind.Answered)
                {
                    CountReport(); // of a session that the hub would not take
                }

                // Else it has ended: what an edge refused of it meanwhile does not matter.
                break;
        }
    }

    /// <inheritdoc/>
    public bool TrySend(ReadOnlySpan<long> sessions, Event accepted) => Output.TryAdd(sessions, accepted, Time);

    /// <inheritdoc/>
    public void Flush(bool byCaller) => Output.Flush(byCaller);

    /// <summary>Tells the edge to go on.</summary>
    public void Recovered() => Output.Begin(LinkItemKind.Recovered).Dispose();

    /// <summary>Tells the edge that so many of its reports are on stable storage.</summary>
    public void Noted(long reports)
    {
        using var item = Output.Begin(LinkItemKind.Noted);
        item.Members.Number(reports);
    }

    /// <summary>The connection is no more: to the hub each session has lost its client for now. To be called once the reader has ended. Returns them.</summary>
    public IReadOnlyCollection<HubSession> End()
    {
        _isEnded = true;
        Output.End();
        foreach (var (_, session) in _sessions)
        {
            session.EndLink();
        }

        _claims.End();
        return [.. _sessions.Values];
    }

    /// <summary>The hub knows the session no longer.</summary>
    public void Forget(HubSession session) => _sessions.TryRemove(session.Handle, out _);

    /// <summary>The edge says this session on a newer connection.</summary>
    private void Supersede(long handle)
    {
        if (_sessions.TryRemove(handle, out var session))
        {
            session.Supersede();
        }
    }

    /// <summary>Ends the link for something that was read late.</summary>
    public void Fail(LinkFormatException fault)
    {
        Fault = fault;
        Output.End();
    }

    /// <summary>An event of this session was refused because too much waits: the session hears when there is room.</summary>
    public void OweRoom(HubSession session)
    {
        _owedRoom[session] = true;
        Output.AskForRoom();
    }

    /// <summary>The hub has taken a report.</summary>
    public void CountReport()
    {
        Interlocked.Increment(ref _reports);
        Reported();
    }

    /// <summary>A report waits behind a call of its session (+1), or no longer (-1).</summary>
    public void CountLate(int change) => Interlocked.Add(ref _late, change);

    private void Open(LinkReader reader)
    {
        var (handle, call) = (reader.Number(), reader.Number());
        var isProven = Door.TryTake(ref reader, LinkDoor.ForSessions, out var key, out var client);
        var (state, age) = (reader.State(), reader.Age());
        reader.End();
        var session = Add(handle, key, client);
        if (!isProven)
        {
            session.RefuseOpen(call);
            return;
        }

        session.Open(call, new SessionOpened(session.Key, state, session, Time.GetUtcNow() - age));
    }

    private void Reopen(LinkReader reader)
    {
        var handle = reader.Number();
        var isProven = Door.TryTake(ref reader, LinkDoor.ForSessions, out var key, out var client);
        var (state, isDetached, age) = (reader.State(), reader.Flag(), reader.Age());
        var topics = reader.Texts();
        _ = Output.Version < LinkHello.CarriesFrames ? reader.Texts() : []; // those that it left: they are not among the others
        var holds = _holds.Take(handle, reader.Texts());
        reader.End();
        var session = Add(handle, key, client);
        if (!isProven)
        {
            session.RefuseReopen();
            return;
        }

        _claims.Taken(key);
        Older?.Supersede(handle);
        var older = Reopened(key) ?? Older;
        session.Reopen(new SessionReopened(new SessionOpened(session.Key, state, session, Time.GetUtcNow() - age), isDetached, [.. topics.Where(session.MayJoin)], holds));
        older?.Orders.SayAgain(session);
    }

    // Called by the writer of the link, which must not wait for shards, or under the lock of one.
    private void GiveRoom() => ThreadPool.UnsafeQueueUserWorkItem(
        static link =>
        {
            foreach (var (session, _) in link._owedRoom)
            {
                link._owedRoom.TryRemove(session, out _);
                session.HasRoom();
            }
        },
        this,
        preferLocal: false);

    private void Claim(LinkReader reader)
    {
        var call = reader.Number();
        var isProven = Door.TryTake(ref reader, LinkDoor.ForSessions, out var key, out _);
        var (seq, age) = (reader.Number(), reader.AgeOrNone());
        reader.End();
        _ = _claims.AnswerAsync(Output, call, isProven ? key : null, seq, Time.GetUtcNow() - age);
    }

    private void TakeReport(LinkReader reader)
    {
        var isProven = Door.TryTake(ref reader, LinkDoor.ForReports, out var key, out _);
        var (eventId, reason, answer) = (reader.Text(), reader.OptionalText(), reader.OptionalText());
        reader.End();
        try
        {
            if (!isProven)
            {
                // Counted, so that an edge does not keep it for ever.
            }
            else if (reason is null)
            {
                Hub.Acked(key, eventId);
            }
            else
            {
                Hub.Answered(key, eventId, reason, answer);
            }
        }
        catch (Exception fault)
        {
            HubSession.HubFailed(Log, fault);
        }

        CountReport();
    }

    private HubSession Add(long handle, SessionKey key, ClientIdentity? client)
    {
        _app = _app == key.App ? _app : key.App; // one text for all sessions: there may be 100,000
        var session = new HubSession(this, handle, key with { App = _app }) { Client = client };
        if (!_sessions.TryAdd(handle, session))
        {
            throw new LinkFormatException("a session is opened twice");
        }

        _highest = Math.Max(_highest, handle);
        return session;
    }
}
