using System.Runtime.CompilerServices;
using Pnh.Channels.Links.Protocol;
using Pnh.Core.Events;
using Pnh.Core.Sessions;

namespace Pnh.Channels.Links;

/// <summary>
/// A session that this edge holds, as its link has it. In one process a shard hears of a refusal before it sends again; over a link younger events may be on their way. So a durable event
/// that was not taken gets a number, and everything younger is refused too until the hub says <see cref="LinkItemKind.GoOn"/> to the newest of these numbers. Thread-safe. Its own lock.
/// </summary>
internal sealed class EdgeSession
{
    private const int MostHolds = 2_000; // of an item, 130 kB
    private const int MostTopics = 500; // of an item, 190 kB

    private LinkQueue _output;
    private DateTimeOffset _since; // when its connection came
    private long _lastRefusal;
    private bool _isOpen;
    private bool _isDetached;
    private bool _isRefusing;
    private bool _hasAcked;
    private bool _isOwedRoom;

    public EdgeSession(SessionOpened opened, long handle, EdgeLink link)
    {
        Key = opened.Key;
        Way = opened.Link;
        Handle = handle;
        Link = link;
        _since = opened.ConnectedAt;
        Pass = opened.Pass;
        _output = link.Output;
    }

    /// <summary>Session and device.</summary>
    public SessionKey Key { get; }

    /// <summary>Its number on the link.</summary>
    public long Handle { get; }

    /// <summary>What the hub made of its client's token; shown with all that is said of it.</summary>
    public ReadOnlyMemory<byte> Pass { get; set; }

    /// <summary>The link that carries it.</summary>
    public EdgeLink Link { get; }

    /// <summary>The way to it, on this node.</summary>
    public ISessionLink Way { get; }

    /// <summary>Gives all of them an event: their frames share its bytes, and what they will touch is fetched together.</summary>
    public static void Give(ReadOnlySpan<EdgeSession> block, Event accepted)
    {
        if (block.Length > 1)
        {
            Prefetch(block);
        }

        foreach (var session in block)
        {
            session.Give(accepted, isReplay: false);
        }
    }

    /// <summary>Asks for the memory that events for these sessions will touch, as <see cref="ISessionLink.Prefetch"/> says.</summary>
    private static void Prefetch(ReadOnlySpan<EdgeSession> block)
    {
        foreach (var session in block)
        {
            Core.Threads.Prefetch.Object(session, lines: 2);
        }

        foreach (var session in block)
        {
            Core.Threads.Prefetch.Object(session.Way, lines: 4);
        }

        for (var step = 0; step < ISessionLink.PrefetchSteps; step++)
        {
            foreach (var session in block)
            {
                session.Way.Prefetch(step);
            }
        }
    }

    /// <summary>Says something about it that is not kept. False = it went nowhere.</summary>
    public bool Say(LinkItemKind kind, Action<LinkWriter>? members = null)
    {
        lock (this)
        {
            return Write(kind, members);
        }
    }

    /// <summary>The hub took it.</summary>
    public void Opened()
    {
        lock (this)
        {
            _isOpen = true;
        }
    }

    /// <summary>Its client has no connection.</summary>
    public void Detach()
    {
        lock (this)
        {
            _isDetached = true;
            Write(LinkItemKind.Detached);
        }
    }

    /// <summary>Its client has a connection again. The hub is asked about it by <see cref="LinkItemKind.Resumed"/>.</summary>
    public void Resume(DateTimeOffset connectedAt)
    {
        lock (this)
        {
            (_since, _isDetached) = (connectedAt, false);
        }
    }

    /// <summary>Another node gave it away: the hub learns that it is here.</summary>
    public void TakeOver()
    {
        lock (this)
        {
            _isOpen = true;
            Reopen(Link.Output);
        }
    }

    /// <summary>The hub of this connection learns what the session is and what it holds. Not one that the hub did not take yet.</summary>
    /// <param name="output">Of the connection.</param>
    public void Reopen(LinkQueue output)
    {
        lock (this)
        {
            if (!_isOpen)
            {
                return;
            }

            _output = output;
            _isRefusing = false;
            // What the session changes from now on is said behind it, once more. First what it holds, then what it reported: an event that it reports meanwhile is in both, and never in neither.
            var content = Way.Describe();
            foreach (var ids in Link.ReportsOf(this).Chunk(MostHolds))
            {
                Write(LinkItemKind.Holds, members => members.Texts(ids));
            }

            var topics = content.Topics.Chunk(MostTopics).ToArray();
            Reopen(output, content, topics.FirstOrDefault() ?? []);
            foreach (var rest in topics.Skip(1))
            {
                Write(LinkItemKind.Joined, members => members.Texts(rest));
            }
        }
    }

    private void Reopen(LinkQueue output, SessionContent content, string[] topics)
    {
        using var item = output.Begin(LinkItemKind.Reopen);
        item.Members.Number(Handle).Key(Key).Bytes(Pass.Span).State(content.State).Flag(_isDetached).Age(Link.Time.GetUtcNow() - _since).Texts(topics).Texts(content.Holds);
    }

    /// <summary>There is no connection.</summary>
    public void Wait(LinkQueue nowhere)
    {
        lock (this)
        {
            _output = nowhere;
        }
    }

    /// <summary>Gives the session an event of the hub.</summary>
    public void Give(Event accepted, bool isReplay)
    {
        // Under the lock, so that the refusal is on its way before the next ack, with which the hub goes on.
        lock (this)
        {
            if (_isRefusing)
            {
                // Sent before the hub heard that an older one was refused. It has a number of its own: what the hub sends before it hears of this one too is refused as well.
                _isOwedRoom |= _hasAcked;
                Refuse(accepted.Id, ++_lastRefusal);
            }
            else if (!(isReplay ? Way.TryReplay(Key.Session, accepted) : Way.TrySend(Key.Session, accepted)))
            {
                _isRefusing = accepted.IsDurable;
                (_hasAcked, _isOwedRoom) = (false, false);
                Refuse(accepted.Id, accepted.IsDurable ? ++_lastRefusal : 0);
            }
        }
    }

    /// <summary>The hub takes an event back.</summary>
    public void Withdraw(Withdrawal withdrawal)
    {
        if (!Way.TryWithdraw(Key.Session, withdrawal))
        {
            Refuse(withdrawal.Event, 0);
        }
    }

    /// <summary>The hub has heard of a refusal. What it sent on an ack meanwhile was refused too, and no other ack may come: so it is asked to send again.</summary>
    public void GoOn(long heard)
    {
        lock (this)
        {
            if (!_isRefusing || _lastRefusal != heard)
            {
                return;
            }

            _isRefusing = false;
            if (_isOwedRoom)
            {
                Write(LinkItemKind.HasRoom);
            }
        }
    }

    /// <summary>The client has the event, or answered it.</summary>
    public void Report(in HeldReport report)
    {
        lock (this)
        {
            Link.Report(this, report);
            _hasAcked |= report.Reason is null;
        }
    }

    /// <summary>The session takes a replay now.</summary>
    public void HasRoom()
    {
        lock (this)
        {
            Write(LinkItemKind.HasRoom);
            _hasAcked = true;
        }
    }

    /// <summary>An event was not taken. 0 = nothing younger has to wait.</summary>
    public void Refuse(string eventId, long refusal) => Say(LinkItemKind.Refused, members => members.Text(eventId).Number(refusal));

    // False when there is no connection: then the item went nowhere.
    private bool Write(LinkItemKind kind, Action<LinkWriter>? members = null)
    {
        using var item = _output.Begin(kind);
        item.Members.Number(Handle);
        members?.Invoke(item.Members);
        return Link.IsCarriedBy(_output);
    }

    /// <summary>Sessions that get an event together.</summary>
    [InlineArray(Size)]
    public struct Block
    {
        /// <summary>How many at most.</summary>
        public const int Size = 16;

        private EdgeSession _first;
    }
}
