using Pnh.LoadTest.Options;
using Pnh.LoadTest.Wire;

namespace Pnh.LoadTest.Clients;

/// <summary>nchan, and the C loop of bench/peers: a WebSocket on <c>/sub/name</c>, a POST to <c>/pub/name</c>; nothing durable, nobody acknowledges.</summary>
internal sealed class ChannelPeer : Peer
{
    public ChannelPeer(BenchOptions options)
        : base(options)
    {
    }

    public override byte[] Upgrade(ClientSession session) => UpgradeRequest("/sub/" + NameOf(session.Streams[^1].Stream));

    public override Template Post(bool toTopic, string @class) => new(Request("/pub/" + NameGap, "", Body));
}
