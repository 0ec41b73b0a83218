using System.Buffers.Text;
using System.Text;
using Pnh.LoadTest.Integrity;
using Pnh.LoadTest.Options;
using Pnh.LoadTest.Wire;

namespace Pnh.LoadTest.Clients;

/// <summary>PNH itself: pnh.v1, a client token per session, its own event ids where the class is durable.</summary>
internal sealed class PnhPeer : Peer
{
    private readonly ClientToken _token;

    public PnhPeer(BenchOptions options)
        : base(options)
    {
        _token = new ClientToken(options.App, options.Secret);
    }

    public override byte[] Upgrade(ClientSession session) => UpgradeRequest("/v1/socket");

    public override void Upgraded(ClientSession session)
    {
        var resume = session.Resumable is { } id ? FormattableString.Invariant($",\"resume\":{{\"session\":\"{id}\",\"seq\":{session.Received}}}") : "";
        var hello = $$"""{"type":"hello","token":"{{_token.Of(NameOf(session.User), Options.Run + "-*")}}","device":"tab","state":"active"{{resume}}}""";
        session.Send(Frames.OfText(Encoding.ASCII.GetBytes(hello)));
    }

    public override void Read(ClientSession session, ReadOnlySpan<byte> message)
    {
        if (message.StartsWith("{\"type\":\"event\""u8))
        {
            var isDurable = ReadSequence(session, message);
            session.Deliver(message, hasId: isDurable && Options.Ids);
        }
        else if (message.StartsWith("{\"type\":\"welcome\""u8))
        {
            Welcome(session, message);
        }
        else if (message.StartsWith("{\"type\":\"error\""u8))
        {
            throw new InvalidDataException(Encoding.UTF8.GetString(message));
        }
        else
        {
            _ = ReadSequence(session, message);
        }
    }

    public override int Acknowledge(Span<byte> target, long sequence) => WriteAck(target, sequence);

    /// <summary>A whole frame that acknowledges everything up to this number: its length.</summary>
    public static int WriteAck(Span<byte> target, long sequence)
    {
        Span<byte> ack = stackalloc byte[48];
        "{\"type\":\"ack\",\"seq\":"u8.CopyTo(ack);
        Utf8Formatter.TryFormat(sequence, ack[20..], out var digits);
        ack[20 + digits] = (byte)'}';
        return Frames.Write(target, Frames.Text, ack[..(21 + digits)]);
    }

    public override Template Post(bool toTopic, string @class) =>
        new(Request("/v1/events", $"Authorization: Bearer {Options.Key}\r\nContent-Type: application/json\r\n{Trace}", Event(toTopic, @class)));

    // https://www.w3.org/TR/trace-context/
    private string Trace => Options.IsTraced ? "traceparent: 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01\r\n" : "";

    /// <summary>An event as text of a template.</summary>
    public string Event(bool toTopic, string @class)
    {
        var id = @class == "transient" || !Options.Ids ? "" : $$"""
            "id":"{{NameGap}}-{seq}",
            """;
        return $$"""{{{id}}"to":{"{{(toTopic ? "topic" : "user")}}":"{{NameGap}}"},"class":"{{@class}}","data":{{Body}}}""";
    }

    private static bool ReadSequence(ClientSession session, ReadOnlySpan<byte> message)
    {
        var at = message.IndexOf("\"seq\":"u8);

        // A transient event has none; one that stands in the data is far behind.
        if (at is < 0 or >= 40)
        {
            return false;
        }

        session.Acknowledge(MessagePayload.Number(message[(at + 6)..]));
        return true;
    }

    private void Welcome(ClientSession session, ReadOnlySpan<byte> message)
    {
        var at = message.IndexOf("\"session\":\""u8) + 11;
        var id = Encoding.ASCII.GetString(message.Slice(at, message[at..].IndexOf((byte)'"')));
        var isResumed = message.IndexOf("\"resumed\":true"u8) >= 0;
        session.Welcome(id, isResumed);
        if (!isResumed && !Options.IsMembers && session.Streams.Where(static check => check.Stream >= MessageLedger.FirstTopic).ToList() is { Count: > 0 } topics)
        {
            var names = string.Join(',', topics.Select(check => $"\"{NameOf(check.Stream)}\""));
            session.Send(Frames.OfText(Encoding.ASCII.GetBytes($$"""{"type":"join","topics":[{{names}}]}""")));
        }

        session.Ready();
    }
}
