using Microsoft.Extensions.Logging;
using Pnh.Channels.Links.Protocol;
using Pnh.Core.Events;
using Pnh.Core.Sessions;

namespace Pnh.Channels.Links;

/// <summary>
/// A session of an edge, as the hub has it: the way to it, and the order of what comes from it. What the session says while the hub has still to answer a call of it
/// waits behind that answer; other sessions go on meanwhile. Thread-safe. Its own lock: there may be 100,000.
/// </summary>
internal sealed partial class HubSession : ISessionLink
{
    private static readonly TimeSpan SurrenderWithin = TimeSpan.FromSeconds(3);
    private readonly HubLink _link;
    private Queue<(LinkItemKind Kind, byte[] Members)>? _behind;
    private TaskCompletionSource<IReadOnlyList<string>?>? _surrendered;
    private bool _isAsking;
    private bool _isDetached;
    private bool _isSuperseded;

    public HubSession(HubLink link, long handle, SessionKey key)
    {
        _link = link;
        Handle = handle;
        Key = key;
    }

    /// <summary>The edge's number of it.</summary>
    public long Handle { get; }

    /// <summary>Session and device.</summary>
    public SessionKey Key { get; }

    /// <inheritdoc/>
    public ISessionCarrier FindCarrier(out long number)
    {
        number = Handle;
        return _link;
    }

    /// <inheritdoc/>
    public bool TrySend(string session, Event accepted)
    {
        if (!IsThis(session))
        {
            return false;
        }

        var isAdded = _link.Output.TryAdd(Handle, accepted, _link.Time);
        if (!isAdded && accepted.IsDurable)
        {
            _link.OweRoom(this);
        }

        return isAdded;
    }

    /// <inheritdoc/>
    public bool TryReplay(string session, Event accepted)
    {
        if (!IsThis(session))
        {
            return false;
        }

        if (_link.Output.Bytes >= LinkQueue.MostBytes)
        {
            _link.OweRoom(this);
            return false;
        }

        var version = _link.Output.Version;
        using var item = _link.Output.Begin(version >= LinkHello.CarriesFrames ? LinkItemKind.ReplayFrame : LinkItemKind.Replay);
        item.Members.Number(Handle).Event(accepted, _link.Time, version);
        return true;
    }

    /// <inheritdoc/>
    public bool TryWithdraw(string session, Withdrawal withdrawal)
    {
        if (!IsThis(session))
        {
            return false;
        }

        _link.Orders.Add(Handle, again => again.TryWithdraw(session, withdrawal));
        using var item = _link.Output.Begin(LinkItemKind.Withdraw);
        item.Members.Number(Handle).Withdrawal(withdrawal);
        return true;
    }

    /// <inheritdoc/>
    public bool TryTellMissed(string session, MissedEvents missed)
    {
        if (!IsThis(session) || _link.Output.Version < LinkHello.SaysMissed)
        {
            return false;
        }

        using var item = _link.Output.Begin(LinkItemKind.Missed);
        item.Members.Number(Handle).Missed(missed, _link.Time);
        return true;
    }

    /// <inheritdoc/>
    public void Close(string session, SessionClose reason)
    {
        if (IsThis(session))
        {
            _link.Orders.Add(Handle, again => again.Close(session, reason));
            using var item = _link.Output.Begin(LinkItemKind.Close);
            item.Members.Number(Handle).Close(reason);
        }
    }

    /// <summary>The link has room again for what it refused.</summary>
    public void HasRoom() => Receive(LinkItemKind.HasRoom, default);

    /// <summary>Asks the hub to take the session. Before anything else of it.</summary>
    public void Open(long call, SessionOpened opened)
    {
        _isAsking = true;
        _ = AnswerAndGoOnAsync(AnswerAsync(call, () => OpenAsync(opened)));
    }

    /// <summary>Tells the hub of a session that it may have known. Before anything else of it.</summary>
    public void Reopen(SessionReopened reopened)
    {
        _isAsking = true;
        _isDetached = reopened.IsDetached;
        _ = AnswerAndGoOnAsync(ReopenAsync(reopened));
    }

    /// <summary>Takes an item, without the session's number. Returns at once. By the reader of the link only.</summary>
    public void Receive(LinkItemKind kind, ReadOnlyMemory<byte> members)
    {
        lock (this)
        {
            if (_isAsking)
            {
                (_behind ??= new()).Enqueue((kind, members.ToArray()));
                _link.CountLate(IsReport(kind) ? +1 : 0);
                return;
            }
        }

        if (IsCall(kind))
        {
            var (call, ask) = ReadCall(kind, new LinkReader(members.Span));
            _isAsking = true;
            _ = AnswerAndGoOnAsync(AnswerAsync(call, ask));
        }
        else
        {
            Tell(kind, new LinkReader(members.Span));
        }
    }

    private static bool IsReport(LinkItemKind kind) => kind is LinkItemKind.Acked or LinkItemKind.Answered;

    private static bool IsCall(LinkItemKind kind) => kind is LinkItemKind.Resumed or LinkItemKind.Publish;

    private bool IsThis(string session) => string.Equals(session, Key.Session, StringComparison.Ordinal);

    private void Tell(LinkItemKind kind, LinkReader reader)
    {
        try
        {
            TellHub(kind, ref reader);
        }
        catch (Exception fault) when (fault is not LinkFormatException)
        {
            HubFailed(_link.Log, fault); // the other sessions of the link go on
        }

        if (IsReport(kind))
        {
            _link.CountReport();
        }
    }

    private void TellHub(LinkItemKind kind, ref LinkReader reader)
    {
        switch (kind)
        {
            case LinkItemKind.Detached:
                reader.End();
                Detach();
                break;
            case LinkItemKind.Closed:
                reader.End();
                EndSession();
                break;
            case LinkItemKind.Surrendered:
                var (isGiven, given) = (reader.Flag(), reader.Texts());
                reader.End();
                Surrendered(isGiven ? given : null);
                break;
            case LinkItemKind.StateChanged:
                var state = reader.State();
                reader.End();
                _link.Hub.StateChanged(Key, state);
                break;
            case LinkItemKind.Acked:
                var acked = reader.Text();
                reader.End();
                _link.Hub.Acked(Key, acked);
                break;
            case LinkItemKind.HasRoom:
                reader.End();
                _link.Hub.HasRoom(Key);
                break;
            case LinkItemKind.Refused:
                var (refused, number) = (reader.Text(), reader.Number());
                reader.End();
                Refuse(refused, number);
                break;
            case LinkItemKind.Answered:
                var (eventId, reason, answer) = (reader.Text(), reader.Text(), reader.OptionalText());
                reader.End();
                _link.Hub.Answered(Key, eventId, reason, answer);
                break;
            case LinkItemKind.Joined or LinkItemKind.Left:
                var topics = reader.Texts();
                reader.End();
                Tell(kind == LinkItemKind.Joined, topics);
                break;
            default:
                throw new LinkFormatException($"{kind} does not go to a hub");
        }
    }

    private void Tell(bool hasJoined, List<string> topics)
    {
        if (hasJoined)
        {
            _link.Hub.Joined(Key, topics.TrueForAll(MayJoin) ? topics : topics.FindAll(MayJoin));
        }
        else
        {
            _link.Hub.Left(Key, topics);
        }
    }

    /// <summary>The connection is no more.</summary>
    public void EndLink()
    {
        Volatile.Read(ref _surrendered)?.TrySetResult(null);
        Receive(LinkItemKind.Detached, default);
    }

    /// <summary>The session is said by another connection now: the end of this connection does not end the session.</summary>
    public void Supersede()
    {
        lock (this)
        {
            _isSuperseded = true;
        }
    }

    // Its client went, or the way to its edge: once. Under the lock, so that no newer connection comes between the look and the call.
    private void Detach()
    {
        lock (this)
        {
            if (!_isDetached && !_isSuperseded)
            {
                _isDetached = true;
                _link.Hub.Detached(Key);
            }
        }
    }

    private void EndSession()
    {
        _link.Forget(this);
        lock (this)
        {
            if (!_isSuperseded)
            {
                _link.Hub.Closed(Key);
            }
        }
    }

    // What the hub sends from GoOn on, it sends knowing of the refusal.
    private void Refuse(string eventId, long refusal)
    {
        _link.Hub.Refused(Key, eventId);
        if (refusal > 0)
        {
            using var item = _link.Output.Begin(LinkItemKind.GoOn);
            item.Members.Number(Handle).Number(refusal);
        }
    }

    [LoggerMessage(1, LogLevel.Error, "The hub failed at a call of a session that an edge holds.", EventName = "LinkCallFailed")]
    internal static partial void HubFailed(ILogger logger, Exception exception);
}
