using Pnh.Channels.WebSockets;
using Pnh.Channels.WebSockets.Protocol;
using Pnh.Core.Sessions;

namespace Pnh.Channels.Tests.WebSockets;

/// <summary>A connection that writes only when the test says so.</summary>
internal sealed class FakeTransport : ISessionTransport
{
    public int Wakes { get; private set; }

    public SessionClose? Closed { get; private set; }

    public void Carry(Session session, DateTimeOffset until)
    {
    }

    public void Wake() => Wakes++;

    public void SendControl(byte[] frame)
    {
    }

    public void Close(SessionClose reason) => Closed ??= reason;

    /// <summary>Writes everything that waits: (seq, event id).</summary>
    public static List<(long Seq, string Id)> Drain(Session session, DateTimeOffset? now = null)
    {
        var written = new List<(long, string)>();
        while (session.TryTake(now ?? TimeProvider.System.GetUtcNow(), out Frame frame, out var seq))
        {
            written.Add((seq, frame.Event.Id));
        }

        return written;
    }
}
