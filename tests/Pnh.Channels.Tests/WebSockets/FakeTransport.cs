using Pnh.Channels.WebSockets.Sessions;
using Pnh.Core.Sessions;

namespace Pnh.Channels.Tests.WebSockets;

/// <summary>A connection that writes only when the test says so.</summary>
internal sealed class FakeTransport : ISessionTransport
{
    public int Wakes { get; private set; }

    public long AcceptedAt => 0;

    public SessionClose? Closed { get; private set; }

    public void Carry(Session session, DateTimeOffset until)
    {
    }

    public bool TryWrite(in Outgoing next) => false;

    public void Wake() => Wakes++;

    public void SendControl(byte[] frame)
    {
    }

    public void Close(SessionClose reason) => Closed ??= reason;

    /// <summary>Writes everything that waits: (seq, event id or withdraw and event id).</summary>
    public List<(long Seq, string Id)> Drain(Session session, DateTimeOffset? now = null)
    {
        var written = new List<(long, string)>();
        while (session.TryTake(this, now ?? TimeProvider.System.GetUtcNow(), out var next))
        {
            written.Add((next.Seq, next.Frame.IsWithdrawal ? $"withdraw {next.Frame.EventId}" : next.Frame.EventId));
        }

        return written;
    }
}
