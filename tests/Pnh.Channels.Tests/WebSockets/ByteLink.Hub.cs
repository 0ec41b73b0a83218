using System.Collections.Concurrent;
using Pnh.Channels.Links;
using Pnh.Core.Sessions;

namespace Pnh.Channels.Tests.WebSockets;

/// <summary>The hub's end: what sessions said becomes calls again, in their order.</summary>
internal sealed partial class ByteLink
{
    private readonly ConcurrentDictionary<string, TaskCompletionSource> _fences = new();
    private int _heard;

    private async Task CallHubAsync(LinkItemKind kind, ReadOnlyMemory<byte> members)
    {
        if (kind == Fence)
        {
            _fences[new LinkReader(members.Span).Text()].SetResult();
        }
        else if (kind is LinkItemKind.Opened or LinkItemKind.Resumed or LinkItemKind.Publish)
        {
            await AnswerAsync(kind, members);
        }
        else if (kind == LinkItemKind.Refused)
        {
            var (session, eventId, refusal) = ReadRefusal(members);
            await TellRefusedAsync(session, eventId, refusal);
        }
        else
        {
            TellHub(kind, members);
        }
    }

    private static (SessionKey Session, string EventId, long Refusal) ReadRefusal(ReadOnlyMemory<byte> members)
    {
        var reader = new LinkReader(members.Span);
        var refusal = (reader.Key(), reader.Text(), reader.Number());
        reader.End();
        return refusal;
    }

    // What the hub sends from GoOn on, it sends knowing of the refusal.
    private async Task TellRefusedAsync(SessionKey session, string eventId, long refusal)
    {
        _hub.Refused(session, eventId);
        if (RefusalHeard is { } heard)
        {
            await heard(eventId);
        }

        if (refusal > 0)
        {
            Write(_toEdge, LinkItemKind.GoOn, w => w.Text(session.Session).Number(refusal));
            Interlocked.Increment(ref _heard);
        }
    }

    private void TellHub(LinkItemKind kind, ReadOnlyMemory<byte> members)
    {
        var reader = new LinkReader(members.Span);
        var session = reader.Key();
        switch (kind)
        {
            case LinkItemKind.Detached:
                _hub.Detached(session);
                break;
            case LinkItemKind.Closed:
                _hub.Closed(session);
                break;
            case LinkItemKind.StateChanged:
                _hub.StateChanged(session, reader.State());
                break;
            case LinkItemKind.Acked:
                _hub.Acked(session, reader.Text());
                break;
            case LinkItemKind.HasRoom:
                _hub.HasRoom(session);
                break;
            case LinkItemKind.Answered:
                _hub.Answered(session, reader.Text(), reader.Text(), reader.OptionalText());
                break;
            case LinkItemKind.Joined:
                _hub.Joined(session, reader.Texts());
                break;
            case LinkItemKind.Left:
                _hub.Left(session, reader.Texts());
                break;
            default:
                throw new LinkFormatException($"{kind} does not go this way");
        }

        reader.End();
    }

    // First whether the hub did not fail, then what it said.
    private async Task AnswerAsync(LinkItemKind kind, ReadOnlyMemory<byte> members)
    {
        var (number, ask) = ReadCall(kind, members);
        Action<LinkWriter> answer;
        try
        {
            answer = await ask();
        }
        catch (InvalidOperationException)
        {
            Write(_toEdge, LinkItemKind.Answer, w => w.Number(number).Flag(false));
            return;
        }

        Write(_toEdge, LinkItemKind.Answer, w => answer(w.Number(number).Flag(true)));
    }

    private (long Number, Func<ValueTask<Action<LinkWriter>>> Ask) ReadCall(LinkItemKind kind, ReadOnlyMemory<byte> members)
    {
        var reader = new LinkReader(members.Span);
        var (number, session) = (reader.Number(), reader.Key());
        Func<ValueTask<Action<LinkWriter>>> ask;
        switch (kind)
        {
            case LinkItemKind.Opened:
                var opened = new SessionOpened(session, reader.State(), Hub, reader.Time());
                ask = async () => SayFlag(await _hub.OpenedAsync(opened, CancellationToken.None));
                break;
            case LinkItemKind.Resumed:
                var state = reader.State();
                ask = async () => SayFlag(await _hub.ResumedAsync(session, state, CancellationToken.None));
                break;
            default:
                var (identity, frame) = (reader.Identity(), reader.Bytes().ToArray());
                ask = async () => await _hub.SendAsync(session, identity, frame, CancellationToken.None) is { } refusal
                    ? w => w.Flag(true).Text(refusal.Code).Text(refusal.Message)
                    : static w => w.Flag(false);
                break;
        }

        reader.End();
        return (number, ask);
    }

    private static Action<LinkWriter> SayFlag(bool value) => w => w.Flag(value);
}
