using System.Collections.Concurrent;
using Pnh.Core.Sessions;

namespace Pnh.Channels.Tests.WebSockets;

/// <summary>The hub's end: what sessions said becomes calls again, in their order.</summary>
internal sealed partial class ByteLink
{
    private readonly ConcurrentDictionary<string, TaskCompletionSource> _fences = new();
    private int _heard;

    private async Task CallHubAsync(BinaryReader reader)
    {
        var call = (Call)reader.ReadByte();
        if (call == Call.Fence)
        {
            _fences[reader.ReadString()].SetResult();
            return;
        }

        if (call is Call.Opened or Call.Resumed or Call.Publish)
        {
            var number = reader.ReadInt64();
            var answer = await AnswerAsync(call, reader);
            Write(_toEdge, Call.Answer, w =>
            {
                w.Write(number);
                w.Write(answer.Length);
                w.Write(answer);
            });
            return;
        }

        if (call == Call.Refused)
        {
            await TellRefusedAsync(ReadKey(reader), reader.ReadString(), reader.ReadInt64());
            return;
        }

        TellHub(call, ReadKey(reader), reader);
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
            Write(_toEdge, Call.GoOn, w =>
            {
                w.Write(session.Session);
                w.Write(refusal);
            });
            Interlocked.Increment(ref _heard);
        }
    }

    private void TellHub(Call call, SessionKey session, BinaryReader reader)
    {
        switch (call)
        {
            case Call.Detached:
                _hub.Detached(session);
                break;
            case Call.Closed:
                _hub.Closed(session);
                break;
            case Call.StateChanged:
                _hub.StateChanged(session, (SessionState)reader.ReadByte());
                break;
            case Call.Acked:
                _hub.Acked(session, reader.ReadString());
                break;
            case Call.HasRoom:
                _hub.HasRoom(session);
                break;
            case Call.Answered:
                _hub.Answered(session, reader.ReadString(), reader.ReadString(), ReadOptional(reader));
                break;
            case Call.Joined:
                _hub.Joined(session, ReadList(reader));
                break;
            case Call.Left:
                _hub.Left(session, ReadList(reader));
                break;
            default:
                throw new InvalidDataException($"{call} does not go this way");
        }
    }

    // First whether the hub did not fail, then what it said.
    private async Task<byte[]> AnswerAsync(Call call, BinaryReader reader)
    {
        var bytes = new MemoryStream();
        await using var writer = new BinaryWriter(bytes);
        try
        {
            var session = ReadKey(reader);
            switch (call)
            {
                case Call.Opened:
                    var isTaken = await _hub.OpenedAsync(
                        new SessionOpened(session, (SessionState)reader.ReadByte(), Hub, new DateTimeOffset(reader.ReadInt64(), TimeSpan.Zero)),
                        CancellationToken.None);
                    writer.Write(true);
                    writer.Write(isTaken);
                    break;
                case Call.Resumed:
                    var known = await _hub.ResumedAsync(session, (SessionState)reader.ReadByte(), CancellationToken.None);
                    writer.Write(true);
                    writer.Write(known);
                    break;
                default:
                    var identity = ReadIdentity(reader);
                    var refusal = await _hub.SendAsync(session, identity, reader.ReadBytes(reader.ReadInt32()), CancellationToken.None);
                    writer.Write(true);
                    writer.Write(refusal is not null);
                    writer.Write(refusal?.Code ?? "");
                    writer.Write(refusal?.Message ?? "");
                    break;
            }
        }
        catch (InvalidOperationException)
        {
            writer.Write(false);
        }

        writer.Flush();
        return bytes.ToArray();
    }
}
