using Pnh.Channels.Links.Protocol;
using Pnh.Core.Sessions;

namespace Pnh.Channels.Links;

/// <summary>What the hub has to answer, and what waits behind an answer.</summary>
internal sealed partial class HubSession
{
    private static readonly SendRefusal Over = new("token-expired", "The client token is over. Come back with a new one.");

    /// <summary>Whom the session speaks for, as its pass says; null = its edge is taken at its word.</summary>
    public ClientIdentity? Client { get; set; }

    /// <summary>False = no token of its client allows the topic.</summary>
    public bool MayJoin(string topic) => Client?.MayJoin(topic) != false;

    /// <summary>The session that was said has no pass: its client is to come back with its token.</summary>
    public void RefuseReopen()
    {
        _link.Forget(this);
        Close(Key.Session, SessionClose.HubError);
    }

    /// <summary>The same of one that a call would open.</summary>
    public void RefuseOpen(long call)
    {
        _link.Forget(this);
        Answer(call, LinkAnswer.Failed);
    }

    private (long Call, Func<ValueTask<LinkAnswer>> Ask) ReadCall(LinkItemKind kind, LinkReader reader)
    {
        var call = reader.Number();
        if (kind == LinkItemKind.Resumed)
        {
            var state = reader.State();
            var age = _link.Door.HasPasses ? reader.Age() : reader.AgeOrNone();
            var isProven = _link.Door.TryPass(Key, ref reader, LinkDoor.ForSessions, out var client);
            reader.End();
            if (!isProven)
            {
                return (call, static () => ValueTask.FromResult(LinkAnswer.Failed));
            }

            Client = client;
            var connectedAt = _link.Time.GetUtcNow() - age;
            return (call, () => ResumeAsync(state, connectedAt));
        }

        var identity = _link.Door.HasPasses ? Client! : reader.Identity();
        var frame = reader.Bytes().ToArray();
        reader.End();
        if (_link.Door.IsOver(identity))
        {
            return (call, static () => ValueTask.FromResult(LinkAnswer.Refusal(Over)));
        }

        return (call, async () => LinkAnswer.Refusal(await _link.Hub.SendAsync(Key, identity, frame, CancellationToken.None)));
    }

    private async ValueTask<LinkAnswer> ResumeAsync(SessionState state, DateTimeOffset? connectedAt)
    {
        var isKnown = await _link.Hub.ResumedAsync(Key, state, connectedAt, CancellationToken.None);
        _isDetached &= !isKnown;
        return LinkAnswer.Flag(isKnown);
    }

    private async Task ReopenAsync(SessionReopened reopened)
    {
        try
        {
            if (!await _link.Hub.ReopenedAsync(reopened, CancellationToken.None))
            {
                Close(Key.Session, SessionClose.Replaced);
                _link.Forget(this);
            }
        }
        catch (Exception fault)
        {
            HubFailed(_link.Log, fault);
            Close(Key.Session, SessionClose.HubError);
        }
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

        Answer(call, answer);
    }

    private void Answer(long call, LinkAnswer answer)
    {
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

                _link.CountLate(IsReport(kind) ? -1 : 0);
            }
        }
        catch (LinkFormatException fault)
        {
            _link.Fail(fault);
            if (DropBehind() is { } end)
            {
                Tell(end, default);
            }
        }
    }

    // What was said last of the session's end, if anything was.
    private LinkItemKind? DropBehind()
    {
        lock (this)
        {
            LinkItemKind? end = _behind?.LastOrDefault(static item => item.Kind is LinkItemKind.Closed or LinkItemKind.Detached) is { Members: not null } last ? last.Kind : null;
            _behind = null;
            _isAsking = false;
            return end;
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
}
