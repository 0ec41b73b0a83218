using System.Runtime.CompilerServices;
using Pnh.Api.Ingest;
using Pnh.Api.Problems;
using Pnh.Channels.Net.Epoll;
using Pnh.Channels.WebSockets.Sessions;
using Pnh.Core.Events;
using Pnh.Core.Hubs;
using Pnh.Core.Sessions;

namespace Pnh.Api.DirectHttp;

/// <summary>
/// Who speaks first on a connection of the direct transport. An event is taken and answered here, an upgrade to a WebSocket is answered and given
/// on, and at anything else the connection goes to Kestrel for good. One request at a time: what follows stays unread until it is answered. The
/// loop's thread reads; the answer may be sent by the thread that completes the event, and until then that thread owns what belongs to it.
/// </summary>
internal sealed partial class HttpFront : ILoopClient, IIdleConnection
{
    private readonly FrontParts _parts;
    private readonly FrontTable _fronts;
    private readonly DirectListener _listener;
    private readonly bool _isDirect;
    private readonly int _number = Random.Shared.Next();
    private LoopSocket? _socket;
    private KnownSender _sender;
    private int _refusals;
    private Event? _event;
    private ValueTaskAwaiter<AcceptResult> _accepting;
    private Action? _accepted;

    /// <param name="parts">What all share.</param>
    /// <param name="fronts">The listener's; this adds and removes itself.</param>
    /// <param name="listener">Where connections are handed over.</param>
    /// <param name="isDirect">False = Kestrel's from the first byte on.</param>
    public HttpFront(FrontParts parts, FrontTable fronts, DirectListener listener, bool isDirect)
    {
        _parts = parts;
        _fronts = fronts;
        _listener = listener;
        _isDirect = isDirect;
    }

    /// <inheritdoc/>
    public void Opened(LoopSocket socket)
    {
        _socket = socket;
        Begin();
        _fronts.Add(this);
        if (_fronts.IsStopping)
        {
            socket.Close();
        }
    }

    /// <inheritdoc/>
    public int Receive(LoopSocket socket, ReadOnlySpan<byte> bytes)
    {
        var used = 0;
        while (used < bytes.Length && !MustWait(socket))
        {
            if (_phase == Phase.Leaving)
            {
                return bytes.Length;
            }

            var taken = Take(socket, bytes[used..]);
            used += taken;
            if (taken == 0 || !ReferenceEquals(socket.Client, this))
            {
                break;
            }
        }

        return used;
    }

    /// <inheritdoc/>
    public void Closed(LoopSocket socket) => _fronts.Remove(this);

    // How many bytes it has used up; 0 = more are needed.
    private int Take(LoopSocket socket, ReadOnlySpan<byte> bytes)
    {
        var kind = _isDirect ? RequestHead.Read(bytes, out var head) : Skip(out head);
        switch (kind)
        {
            case HeadKind.NeedMore:
                Enter(Phase.Head);
                return 0;
            case HeadKind.Event when FindSender(head.Authorization) is { } sender:
                return TakeEvent(socket, sender.App, head, bytes);
            case HeadKind.Upgrade when _parts.Accept is not null && _parts.TryFindClient(head.Authorization, out var client):
                return Upgrade(socket, client, head);
            default:
                return HandOver(socket, bytes);
        }
    }

    private static HeadKind Skip(out RequestHead head)
    {
        head = default;
        return HeadKind.Other;
    }

    private int TakeEvent(LoopSocket socket, string app, in RequestHead head, ReadOnlySpan<byte> bytes)
    {
        var body = bytes[head.Length..];
        if (body.TrimStart(" \t\r\n"u8).StartsWith("["u8))
        {
            return HandOver(socket, bytes);
        }

        if (body.Length < head.ContentLength)
        {
            _windowFrom = _phase == Phase.Body ? _windowFrom : 0;
            Enter(Phase.Body);
            _arrived = body.Length;
            return 0;
        }

        // The answer may be under way, and the next bytes be read, before this returns.
        var length = head.Length + head.ContentLength;
        _isLast = head.IsLast;
        Enter(Phase.Serving);
        try
        {
            Serve(socket, app, body[..head.ContentLength], TraceParent(head));
        }
        catch (Exception bug)
        {
            Log.Failed(_parts.Log, bug);
            _parts.Answers.Answered(StatusCodes.Status500InternalServerError, default);
            Answer(socket, HttpAnswer.Of(new Problem(ProblemCatalogue.InternalError), _fronts.DateLine, IsLastAnswer));
        }

        return length;
    }

    private void Serve(LoopSocket socket, string app, ReadOnlySpan<byte> body, string? traceParent)
    {
        // What is refused is so in the turn in which it was read: it took no time.
        if (_parts.Intake!.Ask(app, body, _number, out var place) is not DoorAnswer.Taken and var answer)
        {
            var refusal = DoorRefusal.Of(answer);
            _parts.Answers.Answered(refusal.Status, default);
            Answer(socket, HttpAnswer.Of(refusal, DoorRefusal.RetryAfter(answer), _fronts.DateLine, IsLastAnswer));
            Hold();
        }
        else if (_parts.Intake!.ReadSent(app, body.ToArray(), traceParent, place, out var problem) is not { } sent)
        {
            _parts.Answers.Answered(problem!.Kind.Status, default);
            Answer(socket, HttpAnswer.Of(problem, _fronts.DateLine, IsLastAnswer));
        }
        else
        {
            _refusals = 0;
#pragma warning disable CA2012, VSTHRD002 // asked once, and only when it is complete: no state machine, and nothing waits
            var accepting = _parts.Intake!.AcceptAsync(sent, place).GetAwaiter();
            if (accepting.IsCompleted)
            {
                Answer(socket, sent, accepting.GetResult());
                return;
            }
#pragma warning restore CA2012, VSTHRD002

            _event = sent;
            _accepting = accepting;
            Volatile.Write(ref _state, Busy);
            accepting.UnsafeOnCompleted(_accepted ??= Accepted);
        }
    }

    // By any thread.
    private void Accepted()
    {
        var (socket, sent, accepting) = (_socket!, _event!, _accepting);
        _event = null;
        _accepting = default;
        try
        {
#pragma warning disable VSTHRD002 // called because it is complete
            Answer(socket, sent, accepting.GetResult());
#pragma warning restore VSTHRD002
        }
        catch (Exception bug)
        {
            Log.Failed(_parts.Log, bug);
            socket.Abort();
        }
    }

    private void Answer(LoopSocket socket, Event sent, in AcceptResult result)
    {
        _parts.Answers.Answered(EventAnswers.StatusOf(result), _parts.Time.GetElapsedTime(sent.AcceptedTimestamp));
        Answer(socket, HttpAnswer.Of(sent, result, _fronts.DateLine, IsLastAnswer));
    }

    private int Upgrade(LoopSocket socket, ClientCredential? client, in RequestHead head)
    {
        var peer = new ConnectionPeer(
            socket.RemoteEndPoint?.Address.ToString(), head.UserAgent.IsEmpty ? null : System.Text.Encoding.ASCII.GetString(head.UserAgent), _parts.OriginOf(head));
        var answer = HttpAnswer.OfUpgrade(head, _fronts.DateLine);
        _fronts.Remove(this);
        if (socket.Send(answer) != answer.Length)
        {
            socket.Abort(); // a connection that has been given nothing yet has room for 250 bytes
            return head.Length;
        }

        socket.Client = _parts.Accept!(socket, client, peer);
        return head.Length;
    }

    private int HandOver(LoopSocket socket, ReadOnlySpan<byte> bytes)
    {
        Enter(Phase.Leaving);
        var arrived = bytes.ToArray();
        _fronts.Remove(this);
        if (socket.Detach() is { } given)
        {
            _listener.HandOver(given, arrived, socket);
        }

        return bytes.Length;
    }

    private Access.Caller? FindSender(ReadOnlySpan<byte> authorization) =>
        _sender.Matches(authorization) ? _sender.Caller : (_sender = KnownSender.Find(authorization, _parts)).Caller;

    private static string? TraceParent(in RequestHead head) =>
        head.TraceParent.Length == EventEndpoints.TraceParentCharacters ? System.Text.Encoding.ASCII.GetString(head.TraceParent) : null;

    private static partial class Log
    {
        [LoggerMessage(1, LogLevel.Error, "An event posted to the direct transport failed.", EventName = "FrontFailed")]
        public static partial void Failed(ILogger logger, Exception exception);
    }
}
