using Pnh.Channels.WebSockets.Protocol;
using Pnh.Channels.WebSockets.Rfc6455;
using Pnh.Channels.WebSockets.Sessions;
using Pnh.Core.Sessions;

namespace Pnh.Channels.WebSockets.Server;

/// <summary>
/// One client's talk in <c>pnh.v1</c>: hello first, then acks and the rest. Knows the protocol and no transport. Called by one receive loop;
/// not thread-safe.
/// </summary>
internal sealed partial class Conversation
{
    private readonly ServerParts _parts;
    private readonly ISessionTransport _transport;
    private ClientCredential? _header;
    private ConnectionPeer _peer;
    private volatile Session? _opened;
    private ClientIdentity? _speaker;
    private volatile bool _hasHello;
    private Knowledge _knows;
    private bool _isRefused;

    public Conversation(ServerParts parts, ISessionTransport transport, ClientCredential? header, ConnectionPeer peer)
    {
        _parts = parts;
        _transport = transport;
        _header = header;
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
                _ = AnswerAsync(session, "answer", frame.Id!, "answered", frame.As);
                return false;
            case ClientFrameType.Seen:
                _ = AnswerAsync(session, "seen", frame.Id!, "seen", null);
                return false;
            case ClientFrameType.Taken:
                _parts.Events.Acked(session.Key, frame.Id!);
                return false;
            case ClientFrameType.Beat:
                _transport.Beat(frame.Beat);
                return false;
            case ClientFrameType.Join:
                Join(session, frame.Topics!);
                return false;
            case ClientFrameType.Leave:
                session.Topics.Leave(frame.Topics!);
                return false;
            default:
                throw new ArgumentOutOfRangeException(nameof(frame), frame.Type, null);
        }
    }

    private void Join(Session session, List<string> topics)
    {
        if (session.Topics.Join(topics, _speaker!, _transport, allOrNone: !Knows(Knowledge.Joined)) is not { } answer)
        {
            return;
        }

        if (Knows(Knowledge.Joined))
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

    private async Task AnswerAsync(Session session, string of, string id, string reason, string? answer)
    {
        if (await _parts.Events.AnsweredAsync(session.Key, id, reason, answer) && Knows(Knowledge.Confirmed))
        {
            _transport.SendControl(ControlFrames.Confirmed(of, id));
        }
    }

    private bool Knows(Knowledge known) => _knows.HasFlag(known);

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

    private void Close(FrameProblem problem, SessionClose reason)
    {
        _transport.SendControl(ControlFrames.Error(problem.Code, problem.Message, ControlFrames.HelpOfRefusals));
        _transport.Close(reason);
    }

    private void SendError(string code, string message) => _transport.SendControl(ControlFrames.Error(code, message));
}
