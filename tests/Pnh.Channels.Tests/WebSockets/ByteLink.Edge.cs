using System.Collections.Concurrent;
using Pnh.Core.Events;
using Pnh.Core.Sessions;

namespace Pnh.Channels.Tests.WebSockets;

/// <summary>The sockets' end: their calls to the hub, and the hub's calls to their sessions.</summary>
internal sealed partial class ByteLink
{
    private readonly ConcurrentDictionary<string, SessionOpened> _sessions = new();
    private readonly ConcurrentDictionary<long, TaskCompletionSource<byte[]>> _calls = new();
    private readonly Dictionary<string, Refusing> _refusing = []; // under _telling
    private readonly Lock _telling = new();
    private long _lastRefusal;
    private long _lastCall;

    private Task CallEdge(BinaryReader reader)
    {
        var call = (Call)reader.ReadByte();
        if (call == Call.Answer)
        {
            var waiter = _calls.TryRemove(reader.ReadInt64(), out var found) ? found : null;
            waiter!.SetResult(reader.ReadBytes(reader.ReadInt32()));
            return Task.CompletedTask;
        }

        if (call == Call.Fence)
        {
            var fence = reader.ReadString();
            Write(_toHub, Call.Fence, w => w.Write(fence));
            return Task.CompletedTask;
        }

        // Gone: its Closed is on the way, and says it all.
        if (_sessions.TryGetValue(reader.ReadString(), out var session))
        {
            CallSession(call, session, reader);
        }

        return Task.CompletedTask;
    }

    private void CallSession(Call call, SessionOpened session, BinaryReader reader)
    {
        var id = session.Key.Session;
        if (call == Call.Close)
        {
            session.Link.Close(id, new SessionClose(reader.ReadInt32(), reader.ReadString()));
            return;
        }

        if (call == Call.GoOn)
        {
            GoOn(session.Key, reader.ReadInt64());
            return;
        }

        if (call == Call.Withdraw)
        {
            var withdrawal = new Withdrawal(reader.ReadString(), reader.ReadString(), reader.ReadString(), new DateTimeOffset(reader.ReadInt64(), TimeSpan.Zero));
            if (!session.Link.TryWithdraw(id, withdrawal))
            {
                Refuse(session.Key, withdrawal.Event, 0);
            }

            return;
        }

        // What was refused until the client acks is on its way before that ack, as it is under the shard's lock in one process: the hub goes on with the ack.
        var accepted = ReadEvent(reader);
        lock (_telling)
        {
            Give(call, session, accepted);
        }
    }

    private void Give(Call call, SessionOpened session, Event accepted)
    {
        var id = session.Key.Session;
        if (_refusing.TryGetValue(id, out var refusing))
        {
            // Sent before the hub heard that an older one was refused. It has a number of its own: what the hub sends before it hears of this one too is refused as well.
            refusing.Last = ++_lastRefusal;
            refusing.IsOwedRoom |= refusing.HasAcked;
            Refuse(session.Key, accepted.Id, refusing.Last);
        }
        else if (!(call == Call.Send ? session.Link.TrySend(id, accepted) : session.Link.TryReplay(id, accepted)))
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
                    Write(_toHub, Call.HasRoom, w => WriteKey(w, session));
                }
            }
        }
    }

    private void Refuse(SessionKey session, string eventId, long refusal) => Write(_toHub, Call.Refused, w =>
    {
        WriteKey(w, session);
        w.Write(eventId);
        w.Write(refusal);
    });

    private async Task<BinaryReader> AskHubAsync(Call call, Action<BinaryWriter> members, CancellationToken cancellationToken)
    {
        var number = Interlocked.Increment(ref _lastCall);
        var answered = _calls[number] = new TaskCompletionSource<byte[]>(TaskCreationOptions.RunContinuationsAsynchronously);
        Write(_toHub, call, w =>
        {
            w.Write(number);
            members(w);
        });
        var answer = new BinaryReader(new MemoryStream(await answered.Task.WaitAsync(cancellationToken)));
        return answer.ReadBoolean() ? answer : throw new InvalidOperationException("the hub failed");
    }

    /// <summary>The hub as the sockets see it.</summary>
    private sealed class EdgeSide(ByteLink link) : ISessionEvents
    {
        public async ValueTask<bool> OpenedAsync(SessionOpened opened, CancellationToken cancellationToken)
        {
            link._sessions[opened.Key.Session] = opened;
            using var answer = await link.AskHubAsync(
                Call.Opened,
                w =>
                {
                    WriteKey(w, opened.Key);
                    w.Write((byte)opened.State);
                    w.Write(opened.ConnectedAt.UtcTicks);
                },
                cancellationToken);
            return answer.ReadBoolean();
        }

        public void Detached(SessionKey session) => Tell(Call.Detached, session);

        public async ValueTask<bool> ResumedAsync(SessionKey session, SessionState state, CancellationToken cancellationToken)
        {
            using var answer = await link.AskHubAsync(
                Call.Resumed,
                w =>
                {
                    WriteKey(w, session);
                    w.Write((byte)state);
                },
                cancellationToken);
            return answer.ReadBoolean();
        }

        public void Closed(SessionKey session)
        {
            link._sessions.TryRemove(session.Session, out _);
            Tell(Call.Closed, session);
        }

        public void StateChanged(SessionKey session, SessionState state) => Tell(Call.StateChanged, session, w => w.Write((byte)state));

        public void Acked(SessionKey session, string eventId)
        {
            lock (link._telling)
            {
                Tell(Call.Acked, session, w => w.Write(eventId));
                RoomMade(session);
            }
        }

        public void HasRoom(SessionKey session)
        {
            lock (link._telling)
            {
                Tell(Call.HasRoom, session);
                RoomMade(session);
            }
        }

        public void Refused(SessionKey session, string eventId) => link.Refuse(session, eventId, 0);

        public void Answered(SessionKey session, string eventId, string reason, string? answer) => Tell(Call.Answered, session, w =>
        {
            w.Write(eventId);
            w.Write(reason);
            WriteOptional(w, answer);
        });

        public void Joined(SessionKey session, IReadOnlyList<string> topics) => Tell(Call.Joined, session, w => WriteList(w, topics));

        public void Left(SessionKey session, IReadOnlyList<string> topics) => Tell(Call.Left, session, w => WriteList(w, topics));

        public async ValueTask<SendRefusal?> SendAsync(
            SessionKey session, ClientIdentity identity, ReadOnlyMemory<byte> message, CancellationToken cancellationToken)
        {
            using var answer = await link.AskHubAsync(
                Call.Publish,
                w =>
                {
                    WriteKey(w, session);
                    WriteIdentity(w, identity);
                    w.Write(message.Length);
                    w.Write(message.Span);
                },
                cancellationToken);
            return answer.ReadBoolean() ? new SendRefusal(answer.ReadString(), answer.ReadString()) : null;
        }

        private void RoomMade(SessionKey session)
        {
            if (link._refusing.TryGetValue(session.Session, out var refusing))
            {
                refusing.HasAcked = true;
            }
        }

        private void Tell(Call call, SessionKey session, Action<BinaryWriter>? members = null) => Write(link._toHub, call, w =>
        {
            WriteKey(w, session);
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
