using System.Collections.Concurrent;
using Pnh.Channels.Links;
using Pnh.Core.Events;
using Pnh.Core.Sessions;

namespace Pnh.Channels.Tests.WebSockets;

/// <summary>The sockets' end: their calls to the hub, and the hub's calls to their sessions.</summary>
internal sealed partial class ByteLink
{
    private static readonly EventReader Events = new(ClassPolicies.Default, ["websocket", "apns", "fcm"]);
    private readonly ConcurrentDictionary<string, SessionOpened> _sessions = new();
    private readonly ConcurrentDictionary<long, TaskCompletionSource<ReadOnlyMemory<byte>>> _calls = new();
    private readonly Dictionary<string, Refusing> _refusing = []; // under _telling
    private readonly Lock _telling = new();
    private long _lastRefusal;
    private long _lastCall;

    private Task CallEdge(LinkItemKind kind, ReadOnlyMemory<byte> members)
    {
        var reader = new LinkReader(members.Span);
        if (kind == LinkItemKind.Answer)
        {
            var waiter = _calls.TryRemove(reader.Number(), out var found) ? found : null;
            waiter!.SetResult(members);
        }
        else if (kind == Fence)
        {
            var fence = reader.Text();
            Write(_toHub, Fence, w => w.Text(fence));
        }
        else if (_sessions.TryGetValue(reader.Text(), out var session))
        {
            // Else it is gone: its Closed is on the way, and says it all.
            CallSession(kind, session, ref reader);
        }

        return Task.CompletedTask;
    }

    private void CallSession(LinkItemKind kind, SessionOpened session, ref LinkReader reader)
    {
        var id = session.Key.Session;
        switch (kind)
        {
            case LinkItemKind.Close:
                session.Link.Close(id, new SessionClose((int)reader.Number(), reader.Text()));
                break;
            case LinkItemKind.GoOn:
                GoOn(session.Key, reader.Number());
                break;
            case LinkItemKind.Withdraw:
                var withdrawal = reader.Withdrawal();
                if (!session.Link.TryWithdraw(id, withdrawal))
                {
                    Refuse(session.Key, withdrawal.Event, 0);
                }

                break;
            case LinkItemKind.Send or LinkItemKind.Replay:
                // What was refused until the client acks is on its way before that ack, as it is under the shard's lock in one process: the hub goes on with the ack.
                var accepted = reader.Event(Events, TimeProvider.System);
                lock (_telling)
                {
                    Give(kind, session, accepted);
                }

                break;
            default:
                throw new LinkFormatException($"{kind} does not go this way");
        }

        reader.End();
    }

    private void Give(LinkItemKind kind, SessionOpened session, Event accepted)
    {
        var id = session.Key.Session;
        if (_refusing.TryGetValue(id, out var refusing))
        {
            // Sent before the hub heard that an older one was refused. It has a number of its own: what the hub sends before it hears of this one too is refused as well.
            refusing.Last = ++_lastRefusal;
            refusing.IsOwedRoom |= refusing.HasAcked;
            Refuse(session.Key, accepted.Id, refusing.Last);
        }
        else if (!(kind == LinkItemKind.Send ? session.Link.TrySend(id, accepted) : session.Link.TryReplay(id, accepted)))
        {
            var number = accepted.IsDurable ? ++_lastRefusal : 0;
            if (number > 0)
            {
                _refusing[id] = new Refusing { Last = number };
            }

            Refuse(session.Key, accepted.Id, number);
        }
    }

    // The hub has heard of all that was refused. What it sent on an ack meanwhile was refused too, and no other ack may come: so it is asked to send again.
    private void GoOn(SessionKey session, long heard)
    {
        lock (_telling)
        {
            if (_refusing.TryGetValue(session.Session, out var refusing) && refusing.Last == heard)
            {
                _refusing.Remove(session.Session);
                if (refusing.IsOwedRoom)
                {
                    Write(_toHub, LinkItemKind.HasRoom, w => w.Key(session));
                }
            }
        }
    }

    private void Refuse(SessionKey session, string eventId, long refusal) =>
        Write(_toHub, LinkItemKind.Refused, w => w.Key(session).Text(eventId).Number(refusal));

    /// <summary>The members of the answer, behind its number.</summary>
    private async Task<ReadOnlyMemory<byte>> AskHubAsync(LinkItemKind kind, Action<LinkWriter> members, CancellationToken cancellationToken)
    {
        var number = Interlocked.Increment(ref _lastCall);
        var answered = _calls[number] = new TaskCompletionSource<ReadOnlyMemory<byte>>(TaskCreationOptions.RunContinuationsAsynchronously);
        Write(_toHub, kind, w => members(w.Number(number)));
        return await answered.Task.WaitAsync(cancellationToken);
    }

    private static LinkReader ReadAnswer(ReadOnlyMemory<byte> answer)
    {
        var reader = new LinkReader(answer.Span);
        _ = reader.Number();
        return reader.Flag() ? reader : throw new InvalidOperationException("the hub failed");
    }

    private static bool ReadFlag(ReadOnlyMemory<byte> answer)
    {
        var reader = ReadAnswer(answer);
        return reader.Flag();
    }

    private static SendRefusal? ReadSendRefusal(ReadOnlyMemory<byte> answer)
    {
        var reader = ReadAnswer(answer);
        return reader.Flag() ? new SendRefusal(reader.Text(), reader.Text()) : null;
    }

    /// <summary>The hub as the sockets see it.</summary>
    private sealed class EdgeSide(ByteLink link) : ISessionEvents
    {
        public async ValueTask<bool> OpenedAsync(SessionOpened opened, CancellationToken cancellationToken)
        {
            link._sessions[opened.Key.Session] = opened;
            return ReadFlag(await link.AskHubAsync(LinkItemKind.Opened, w => w.Key(opened.Key).State(opened.State).Time(opened.ConnectedAt), cancellationToken));
        }

        public void Detached(SessionKey session) => Tell(LinkItemKind.Detached, session);

        public async ValueTask<bool> ResumedAsync(SessionKey session, SessionState state, CancellationToken cancellationToken) =>
            ReadFlag(await link.AskHubAsync(LinkItemKind.Resumed, w => w.Key(session).State(state), cancellationToken));

        public void Closed(SessionKey session)
        {
            link._sessions.TryRemove(session.Session, out _);
            Tell(LinkItemKind.Closed, session);
        }

        public void StateChanged(SessionKey session, SessionState state) => Tell(LinkItemKind.StateChanged, session, w => w.State(state));

        public void Acked(SessionKey session, string eventId)
        {
            lock (link._telling)
            {
                Tell(LinkItemKind.Acked, session, w => w.Text(eventId));
                RoomMade(session);
            }
        }

        public void HasRoom(SessionKey session)
        {
            lock (link._telling)
            {
                Tell(LinkItemKind.HasRoom, session);
                RoomMade(session);
            }
        }

        public void Refused(SessionKey session, string eventId) => link.Refuse(session, eventId, 0);

        public void Answered(SessionKey session, string eventId, string reason, string? answer) => Tell(LinkItemKind.Answered, session, w => w.Text(eventId).Text(reason).OptionalText(answer));

        public void Joined(SessionKey session, IReadOnlyList<string> topics) => Tell(LinkItemKind.Joined, session, w => w.Texts(topics));

        public void Left(SessionKey session, IReadOnlyList<string> topics) => Tell(LinkItemKind.Left, session, w => w.Texts(topics));

        public async ValueTask<SendRefusal?> SendAsync(
            SessionKey session, ClientIdentity identity, ReadOnlyMemory<byte> message, CancellationToken cancellationToken) =>
            ReadSendRefusal(await link.AskHubAsync(LinkItemKind.Publish, w => w.Key(session).Identity(identity).Bytes(message.Span), cancellationToken));

        private void RoomMade(SessionKey session)
        {
            if (link._refusing.TryGetValue(session.Session, out var refusing))
            {
                refusing.HasAcked = true;
            }
        }

        private void Tell(LinkItemKind kind, SessionKey session, Action<LinkWriter>? members = null) => Write(link._toHub, kind, w =>
        {
            w.Key(session);
            members?.Invoke(w);
        });
    }

    /// <summary>A session of which the hub has not heard each refusal.</summary>
    private sealed class Refusing
    {
        public long Last { get; set; }

        public bool HasAcked { get; set; }

        /// <summary>True when something was refused after an ack: no other ack need come.</summary>
        public bool IsOwedRoom { get; set; }
    }
}
