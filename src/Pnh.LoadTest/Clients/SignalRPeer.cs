using System.Diagnostics;
using System.Text;
using Pnh.LoadTest.Options;
using Pnh.LoadTest.Wire;

namespace Pnh.LoadTest.Clients;

/// <summary>bench/Pnh.SignalRPeer: the hub's JSON protocol over a WebSocket without negotiation, a group per stream, the POST of <see cref="ChannelPeer"/>.</summary>
internal sealed class SignalRPeer : Peer
{
    private static readonly byte[] Handshake = Frames.OfText("{\"protocol\":\"json\",\"version\":1}\u001e"u8);
    private static readonly byte[] Ping = Frames.OfText("{\"type\":6}\u001e"u8);

    public SignalRPeer(BenchOptions options)
        : base(options)
    {
    }

    public override byte[] Upgrade(ClientSession session) => UpgradeRequest("/hub");

    public override void Upgraded(ClientSession session) => session.Send(Handshake);

    // What waited comes as several records in one message, a ping before an event too.
    public override void Read(ClientSession session, ReadOnlySpan<byte> message)
    {
        for (int end; (end = message.IndexOf((byte)0x1E)) >= 0; message = message[(end + 1)..])
        {
            ReadRecord(session, message[..end]);
        }
    }

    private void ReadRecord(ClientSession session, ReadOnlySpan<byte> message)
    {
        if (message.StartsWith("{}"u8))
        {
            foreach (var check in session.Streams)
            {
                var join = $$"""{"type":1,"invocationId":"1","target":"Join","arguments":["{{NameOf(check.Stream)}}"]}""" + "\u001e";
                session.Send(Frames.OfText(Encoding.ASCII.GetBytes(join)));
            }
        }
        else if (message.StartsWith("{\"type\":3"u8))
        {
            session.Ready(); // the answer to Join
        }
        else if (message.StartsWith("{\"type\":6"u8))
        {
            session.Send(Ping);
        }
        else
        {
            session.Deliver(message);
            KeepAlive(session);
        }
    }

    // A server that always has something to send never pings, and drops after 30 s whom it did not hear.
    private static void KeepAlive(ClientSession session)
    {
        if (Stopwatch.GetElapsedTime(session.SpokeAt).TotalSeconds > 10)
        {
            session.SpokeAt = Stopwatch.GetTimestamp();
            session.Send(Ping);
        }
    }

    public override Template Post(bool toTopic, string @class) => new(Request("/pub/" + NameGap, "", Body));
}
