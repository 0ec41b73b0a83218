using Pnh.LoadTest.Integrity;
using Pnh.LoadTest.Options;
using Pnh.LoadTest.Wire;

namespace Pnh.LoadTest.Clients;

/// <summary>How one hub is spoken to: what opens a session, what a message of it means, what publishes. One per run.</summary>
internal abstract class Peer
{
    protected Peer(BenchOptions options)
    {
        Options = options;
    }

    protected BenchOptions Options { get; }

    /// <summary>What this peer calls the user or topic of a stream; of this run alone, so that what an earlier one left cannot arrive.</summary>
    public string NameOf(int stream) => FormattableString.Invariant($"{Options.Run}-{stream:D7}");

    /// <summary>The same as text of a <see cref="Template"/>.</summary>
    protected string NameGap => Options.Run + "-{stream}";

    /// <summary>The upgrade request of a session.</summary>
    public abstract byte[] Upgrade(ClientSession session);

    /// <summary>The upgrade was answered: says what comes next, or that the session is <see cref="ClientSession.Ready"/>.</summary>
    public virtual void Upgraded(ClientSession session) => session.Ready();

    /// <summary>A text message came.</summary>
    public virtual void Read(ClientSession session, ReadOnlySpan<byte> message) => session.Deliver(message);

    /// <summary>The frame that confirms everything up to a number, written into the target; its length, 0 = nobody wants one.</summary>
    public virtual int Acknowledge(Span<byte> target, long sequence) => 0;

    /// <summary>A POST of one event to the users or topics that its streams name.</summary>
    public abstract Template Post(bool toTopic, string @class);

    protected string Request(string path, string headers, string body)
    {
        var length = new Template(body).Length;
        return FormattableString.Invariant($"POST {path} HTTP/1.1\r\nHost: {Options.Host}:{Options.Port}\r\n{headers}Content-Length: {length}\r\n\r\n{body}");
    }

    protected byte[] UpgradeRequest(string path, string headers = "") => System.Text.Encoding.ASCII.GetBytes(FormattableString.Invariant(
        $"GET {path} HTTP/1.1\r\nHost: {Options.Host}:{Options.Port}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n{headers}\r\n"));

    protected string Body => MessagePayload.Text(Options.Size);
}
