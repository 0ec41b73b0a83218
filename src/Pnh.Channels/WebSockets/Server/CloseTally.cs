using System.Globalization;
using Pnh.Channels.WebSockets.Sessions;
using Pnh.Core.Sessions;

namespace Pnh.Channels.WebSockets.Server;

/// <summary>How many connections ended for which reason, since the start. Thread-safe; counting costs an interlocked addition.</summary>
internal sealed class CloseTally
{
    private static readonly (string Label, int Code)[] Ends =
    [
        ("left", 1000), ("lost", 1000), .. new[]
        {
            SessionClose.Drain, SessionClose.SlowConsumer, SessionClose.TokenExpired, SessionClose.HelloTimeout, SessionClose.HubError, SessionClose.Overloaded,
            SessionClose.KeepAliveTimeout, SessionClose.TokenRefused, SessionClose.Replaced, SessionClose.Unauthorized, SessionClose.ProtocolError, SessionClose.Kicked,
        }.Select(static close => (close.Code.ToString(CultureInfo.InvariantCulture), close.Code)),
    ];

    private readonly long[] _counts = new long[Ends.Length];

    /// <summary>By close code; <c>left</c> = the client closed it, <c>lost</c> = it broke. All of them from the start on.</summary>
    public IReadOnlyList<(string Code, Func<long> Read)> Readings => [.. Ends.Select((end, at) => (end.Label, (Func<long>)(() => Volatile.Read(ref _counts[at]))))];

    public void Count(SessionClose reason)
    {
        var at = ReferenceEquals(reason, SessionEnds.Lost) ? 1 : Array.FindIndex(Ends, end => end.Code == reason.Code);
        if (at >= 0)
        {
            Interlocked.Increment(ref _counts[at]);
        }
    }
}
