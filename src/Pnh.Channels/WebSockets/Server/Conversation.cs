using System.Buffers.Text;
using System.Security.Cryptography;
using Pnh.Channels.WebSockets.Protocol;
using Pnh.Channels.WebSockets.Rfc6455;
using Pnh.Channels.WebSockets.Sessions;
using Pnh.Core.Sessions;

namespace Pnh.Channels.WebSockets.Server;

/// <summary>
/// One client's talk in <c>pnh.v1</c>: hello first, then acks and the rest. Knows the protocol and no transport. Called by one receive loop;
/// not thread-safe.
/// </summary>
internal sealed class Conversation
{
    /// <summary>128 random bits: a session id cannot be guessed, since with a token it allows to resume.</summary>
    private const int SessionIdBytes = 16;

    private static readonly FrameProblem TooManySessions = new("too-many-sessions", "The user has as many sessions as one user may. Close one, or wait until one ends.");

    private readonly ServerParts _parts;
    private readonly ISessionTransport _transport;
    private readonly ClientIdentity? _identity;
    private readonly ConnectionPeer _peer;
    private volatile Session? _opened;
    private ClientIdentity? _speaker;
    private volatile bool _hasHello;
    private bool _answersJoins;
    private bool _isRefused;

    public Conversation(ServerParts parts, ISessionTransport transport, ClientIdentity? identity, ConnectionPeer peer)
    {
        _parts = parts;
        _transport = transport;
        _identity = identity;
        _peer = peer;
    }

    /// <summary>True from a well-formed hello on.</summary>
    public bool HasHello => _hasHello;

    /// <summary>The session that the hub was told of; null before that.</summary>
    public Session? Opened => _opened;

    /// <summary>Handles one message; synchronous but for a hello and a send. Acks that are owed, or confirm something, are given back to the budget.</summary>
    public ValueTask ReceiveAsync(ReadOnlySpan<byte> message, ref MessageBudget budget, CancellationToken cancellationToken)
    {
        if (ClientFrameReader.Read(message, out var frame) is { } problem)
        {
            Refuse(problem);
            return ValueTask.CompletedTask;
        }

        if (_opened is not { } session)
        {
            if (frame.Type == ClientFrameType.Hello)
            {
                return OpenAsync(frame, cancellationToken);
            }

            Refuse(new FrameProblem("hello-expected", "The first message must be hello."));
            return ValueTask.CompletedTask;
        }

        if (frame.Type == ClientFrameType.Send)
        {
            return PublishAsync(session, message.ToArray(), cancellationToken);
        }

        if (Handle(session, frame))
        {
            budget.Return();
        }

        return ValueTask.CompletedTask;
    }

    /// <summary>A message that came after we began to close: an ack still counts (it saves a repeat), unless the client broke the protocol.</summary>
    public void ReceiveLate(Received received, ReadOnlySpan<byte> message)
    {
        if (received == Received.Text && !_isRefused && _opened is { } session
            && ClientFrameReader.Read(message, out var frame) is null && frame is { Type: ClientFrameType.Ack, Seq: { } seq })
        {
            session.Acknowledge(seq);
        }
    }

    /// <summary>Says what is wrong, and closes.</summary>
    public void Refuse(FrameProblem problem)
    {
        _isRefused = true;
        Close(problem, SessionClose.ProtocolError);
    }

    // True when the message was an ack that confirmed something, or one of as many as frames were written.
    private bool Handle(Session session, in ClientFrame frame)
    {
        switch (frame.Type)
        {
            case ClientFrameType.Ack:
                var confirmed = session.Acknowledge(frame.Seq!.Value, out var isOwed);
                if (confirmed is null)
                {
                    Refuse(new FrameProblem("ack-of-the-future", "The seq was never sent."));
                }

                return confirmed > 0 || (confirmed is not null && isOwed);
            case ClientFrameType.State:
                ChangeState(session, frame.State!.Value);
                return false;
            case ClientFrameType.Hello:
                Refuse(new FrameProblem("second-hello", "The session is open already."));
                return false;
            case ClientFrameType.Answer:
                _parts.Events.Answered(session.Key, frame.Id!, "answered", frame.As);
                return false;
            case ClientFrameType.Seen:
                _parts.Events.Answered(session.Key, frame.Id!, "seen", null);
                return false;
            case ClientFrameType.Join:
                Join(session, frame.Topics!);
                return false;
            case ClientFrameType.Leave:
                session.LeaveTopics(frame.Topics!);
                return false;
            default:
                throw new ArgumentOutOfRangeException(nameof(frame), frame.Type, null);
        }
    }

    private void Join(Session session, List<string> topics)
    {
        if (session.Join(topics, _speaker!, _transport, allOrNone: !_answersJoins) is not { } answer)
        {
            return;
        }

        if (_answersJoins)
        {
            _transport.SendControl(ControlFrames.Joined(answer));
        }
        else if (answer.NotAllowed.Count > 0)
        {
            SendError("not-allowed", "The token does not allow each of these topics; none was joined.");
        }
        else if (answer.TooMany.Count > 0)
        {
            SendError("too-many-topics", "The session would be in more topics than it may; none was joined.");
        }
    }

    // The message is the reader's buffer no longer: the hub may keep what it takes.
    private async ValueTask PublishAsync(Session session, byte[] message, CancellationToken cancellationToken)
    {
        if (await _parts.Events.SendAsync(session.Key, _speaker!, message, cancellationToken) is { } refusal)
        {
            SendError(refusal.Code, refusal.Message);
        }
    }

    private void ChangeState(Session session, SessionState state)
    {
        if (session.State != state)
        {
            session.State = state;
            _parts.Events.StateChanged(session.Key, state);
        }
    }

    private async ValueTask OpenAsync(ClientFrame hello, CancellationToken cancellationToken)
    {
        _hasHello = true;
        if (Admission.Check(hello, _identity, _peer.Origin, _parts, out var identity) is { } refusal)
        {
            Close(refusal.Problem, refusal.Close);
            return;
        }

        _speaker = identity;
        try
        {
            if (!await TryResumeAsync(hello, identity, cancellationToken))
            {
                await OpenNewAsync(hello, identity, cancellationToken);
            }
        }
        catch (OperationCanceledException) when (cancellationToken.IsCancellationRequested)
        {
            _transport.Close(SessionClose.Drain);
        }
    }

    // False = a new session: of an unknown, foreign or ended one the client learns no more than that.
    private async ValueTask<bool> TryResumeAsync(ClientFrame hello, ClientIdentity identity, CancellationToken cancellationToken)
    {
        if (hello.ResumeSession is not { } id)
        {
            return false;
        }

        if (_parts.Sessions.Find(id, identity.App, identity.User, hello.Device!) is not { } session)
        {
            return await TryClaimAsync(new SessionKey(identity.App, identity.User, hello.Device!, id), hello, identity);
        }

        if (session.HasNewer(_transport))
        {
            _transport.Close(SessionClose.Replaced);
            return true;
        }

        var state = hello.State ?? SessionState.Active;
        if (await session.TryResumeAsync(_transport, _peer, hello.ResumeSeq!.Value, state, identity, cancellationToken) is not { } confirmed)
        {
            return false;
        }

        Carry(session, identity, hello, confirmed, resumed: true);
        return true;
    }

    // Another node may hold it. What it gives away has to be taken: no cancellation from here on.
    private async ValueTask<bool> TryClaimAsync(SessionKey key, ClientFrame hello, ClientIdentity identity)
    {
        var seq = hello.ResumeSeq!.Value;
        var since = _parts.CameAt(_transport);
        if (await _parts.Events.ClaimAsync(key, seq, since) is not { } given)
        {
            return false;
        }

        var session = new Session(key, hello.State ?? SessionState.Active, since, _peer, _parts, seq);
        var topics = session.TakeTopics(given, identity);
        string[] left = [.. given.Except(topics, StringComparer.Ordinal)];
        _opened = session;
        if (!await _parts.Events.ReopenedAsync(
            new SessionReopened(new SessionOpened(key, session.State, session, since), IsDetached: false, topics, left, []), CancellationToken.None))
        {
            _transport.Close(SessionClose.Replaced);
            return true;
        }

        Carry(session, identity, hello, seq, resumed: true);
        return true;
    }

    private async ValueTask OpenNewAsync(ClientFrame hello, ClientIdentity identity, CancellationToken cancellationToken)
    {
        var since = _parts.CameAt(_transport);
        var id = Base64Url.EncodeToString(RandomNumberGenerator.GetBytes(SessionIdBytes));
        var key = new SessionKey(identity.App, identity.User, hello.Device!, id);
        var session = new Session(key, hello.State ?? SessionState.Active, since, _peer, _parts);

        // The hub knows the session before the client does: an event that the client sends itself after welcome must find it.
        var isTaken = true;
        try
        {
            isTaken = await _parts.Events.OpenedAsync(new SessionOpened(key, session.State, session, since), cancellationToken);
        }
        finally
        {
            _opened = isTaken ? session : null; // also when the hub failed: it may know the session, and must hear of its end
        }

        if (!isTaken)
        {
            Close(TooManySessions, SessionClose.Overloaded);
            return;
        }

        Carry(session, identity, hello, seq: 0, resumed: false);
    }

    private void Carry(Session session, ClientIdentity identity, in ClientFrame hello, long seq, bool resumed)
    {
        _opened = session;
        session.Attach(_transport); // before the client knows its name: it may come back with that at once, on another connection
        if (hello.Beat)
        {
            _transport.Beat();
        }

        _answersJoins = hello.KnowsJoined;
        _transport.SendControl(ControlFrames.Welcome(
            session.Key.Session, seq, resumed, hello.Beat ? ControlFrames.BeatEvery : TimeSpan.Zero, _answersJoins ? session.Topics : null));
        _transport.Carry(session, identity.ExpiresAt);
    }

    private void Close(FrameProblem problem, SessionClose reason)
    {
        _transport.SendControl(ControlFrames.Error(problem.Code, problem.Message, ControlFrames.HelpOfRefusals));
        _transport.Close(reason);
    }

    private void SendError(string code, string message) => _transport.SendControl(ControlFrames.Error(code, message));
}
