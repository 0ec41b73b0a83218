using Microsoft.Extensions.Logging;
using Pnh.Core.Events;
using Pnh.Core.Sessions;

namespace Pnh.Channels.Links;

/// <summary>
/// A session of an edge, as the hub has it: the way to it, and the order of what comes from it. What the session says while the hub has still to answer a call of it
/// waits behind that answer; other sessions go on meanwhile. Thread-safe. Its own lock: there may be 100,000.
/// </summary>
internal sealed partial class HubSession : ISessionLink
{
    private readonly HubLink _link;
    private readonly SessionKey _key;
    private Queue<(LinkItemKind Kind, byte[] Members)>? _behind;
    private bool _isAsking;

    public HubSession(HubLink link, long handle, SessionKey key)
    {
        _link = link;
        Handle = handle;
        _key = key;
    }

    /// <summary>The edge's number of it.</summary>
    public long Handle { get; }

    /// <inheritdoc/>
    public bool TrySend(string session, Event accepted) => IsThis(session) && _link.Output.TryAdd(Handle, accepted, _link.Time);

    /// <inheritdoc/>
    public bool TryReplay(string session, Event accepted)
    {
        if (!IsThis(session) || _link.Output.Bytes >= LinkQueue.MostBytes)
        {
            return false; // there is no room now, as when the session's own is used up
        }

        using var item = _link.Output.Begin(LinkItemKind.Replay);
        item.Members.Number(Handle).Event(accepted, _link.Time);
        return true;
    }

    /// <inheritdoc/>
    public bool TryWithdraw(string session, Withdrawal withdrawal)
    {
        if (!IsThis(session))
        {
            return false;
        }

        using var item = _link.Output.Begin(LinkItemKind.Withdraw);
        item.Members.Number(Handle).Withdrawal(withdrawal);
        return true;
    }

    /// <inheritdoc/>
    public void Close(string session, SessionClose reason)
    {
        if (IsThis(session))
        {
            using var item = _link.Output.Begin(LinkItemKind.Close);
            item.Members.Number(Handle).Close(reason);
        }
    }

    /// <summary>Asks the hub to take the session. Before anything else of it.</summary>
    public void Open(long call, SessionOpened opened)
    {
        _isAsking = true;
        _ = AnswerAndGoOnAsync(AnswerAsync(call, () => OpenAsync(opened)));
    }

    /// <summary>Takes an item, without the session's number. Returns at once. By the reader of the link only.</summary>
    public void Receive(LinkItemKind kind, ReadOnlyMemory<byte> members)
    {
        lock (this)
        {
            if (_isAsking)
            {
                (_behind ??= new()).Enqueue((kind, members.ToArray()));
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

    private static bool IsCall(LinkItemKind kind) => kind is LinkItemKind.Resumed or LinkItemKind.Publish;

    private bool IsThis(string session) => string.Equals(session, _key.Session, StringComparison.Ordinal);

    private void Tell(LinkItemKind kind, LinkReader reader)
    {
        try
        {
            TellHub(kind, ref reader);
        }
        catch (Exception fault) when (fault is not LinkFormatException)
        {
            HubFailed(_link.Log, fault); // the other sessions of the link go on
            return;
        }

        reader.End();
    }

    private void TellHub(LinkItemKind kind, ref LinkReader reader)
    {
        switch (kind)
        {
            case LinkItemKind.Detached:
                _link.Hub.Detached(_key);
                break;
            case LinkItemKind.Closed:
                _link.Forget(this);
                _link.Hub.Closed(_key);
                break;
            case LinkItemKind.StateChanged:
                _link.Hub.StateChanged(_key, reader.State());
                break;
            case LinkItemKind.Acked:
                _link.Hub.Acked(_key, reader.Text());
                break;
            case LinkItemKind.HasRoom:
                _link.Hub.HasRoom(_key);
                break;
            case LinkItemKind.Refused:
                Refuse(reader.Text(), reader.Number());
                break;
            case LinkItemKind.Answered:
                _link.Hub.Answered(_key, reader.Text(), reader.Text(), reader.OptionalText());
                break;
            case LinkItemKind.Joined:
                _link.Hub.Joined(_key, reader.Texts());
                break;
            case LinkItemKind.Left:
                _link.Hub.Left(_key, reader.Texts());
                break;
            default:
                throw new LinkFormatException($"{kind} does not go to a hub");
        }
    }

    // What the hub sends from GoOn on, it sends knowing of the refusal.
    private void Refuse(string eventId, long refusal)
    {
        _link.Hub.Refused(_key, eventId);
        if (refusal > 0)
        {
            using var item = _link.Output.Begin(LinkItemKind.GoOn);
            item.Members.Number(Handle).Number(refusal);
        }
    }

    private (long Call, Func<ValueTask<LinkAnswer>> Ask) ReadCall(LinkItemKind kind, LinkReader reader)
    {
        var call = reader.Number();
        if (kind == LinkItemKind.Resumed)
        {
            var state = reader.State();
            reader.End();
            return (call, async () => LinkAnswer.Flag(await _link.Hub.ResumedAsync(_key, state, CancellationToken.None)));
        }

        var (identity, frame) = (reader.Identity(), reader.Bytes().ToArray());
        reader.End();
        return (call, async () => LinkAnswer.Refusal(await _link.Hub.SendAsync(_key, identity, frame, CancellationToken.None)));
    }

    private async ValueTask<LinkAnswer> OpenAsync(SessionOpened opened)
    {
        var isTaken = await _link.Hub.OpenedAsync(opened, CancellationToken.None);
        if (!isTaken)
        {
            _link.Forget(this); // the edge says no more of it
        }

        return LinkAnswer.Flag(isTaken);
    }

    private async Task AnswerAsync(long call, Func<ValueTask<LinkAnswer>> ask)
    {
        var answer = LinkAnswer.Failed;
        try
        {
            answer = await ask();
        }
        catch (Exception fault)
        {
            HubFailed(_link.Log, fault); // the edge closes the session's connection, as a node that is alone does
        }

        using var item = _link.Output.Begin(LinkItemKind.Answer);
        answer.Write(item.Members.Number(call));
    }

    private async Task AnswerAndGoOnAsync(Task answered)
    {
        await answered;
        try
        {
            while (TryTakeBehind(out var kind, out var members))
            {
                if (IsCall(kind))
                {
                    var (call, ask) = ReadCall(kind, new LinkReader(members));
                    await AnswerAsync(call, ask);
                }
                else
                {
                    Tell(kind, new LinkReader(members));
                }
            }
        }
        catch (LinkFormatException fault)
        {
            _link.Fail(fault);
            if (DropBehind())
            {
                Tell(LinkItemKind.Closed, default);
            }
        }
    }

    // True when the end of the session was among it.
    private bool DropBehind()
    {
        lock (this)
        {
            var hasEnded = _behind is not null && _behind.Any(static item => item.Kind == LinkItemKind.Closed);
            _behind = null;
            _isAsking = false;
            return hasEnded;
        }
    }

    private bool TryTakeBehind(out LinkItemKind kind, out byte[] members)
    {
        lock (this)
        {
            (kind, members) = _behind is not null && _behind.TryDequeue(out var next) ? next : default;
            if (members is not null)
            {
                return true;
            }

            _behind = null;
            return _isAsking = false;
        }
    }

    [LoggerMessage(1, LogLevel.Error, "The hub failed at a call of a session that an edge holds.", EventName = "LinkCallFailed")]
    private static partial void HubFailed(ILogger logger, Exception exception);
}
