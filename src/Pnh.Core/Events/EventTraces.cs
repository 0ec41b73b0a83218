using System.Diagnostics;

namespace Pnh.Core.Events;

/// <summary>
/// What became of an event that came with a trace (https://www.w3.org/TR/trace-context/), as spans of the publisher's: its acceptance, each frame on a socket, each push that a
/// provider took. Each begins when the event came. Nothing is made for other events, nor while nobody listens to the source. Thread-safe.
/// </summary>
public static class EventTraces
{
    /// <summary>Name of the <see cref="ActivitySource"/>.</summary>
    public const string SourceName = "Pnh";

    private static readonly ActivitySource Source = new(SourceName);

    /// <summary>It was accepted, and is on stable storage unless it is transient.</summary>
    public static void Accepted(Event accepted, TimeProvider time)
    {
        if (IsWanted(accepted))
        {
            Record("pnh.accept", ActivityKind.Server, accepted, channel: null, time);
        }
    }

    /// <summary>A frame with it was queued on a session.</summary>
    public static void Framed(Event accepted, TimeProvider time)
    {
        if (IsWanted(accepted))
        {
            Record("pnh.frame", ActivityKind.Producer, accepted, ChannelNames.WebSocket, time);
        }
    }

    /// <summary>A provider took a push with it.</summary>
    public static void Pushed(Event accepted, string channel, TimeProvider time)
    {
        if (IsWanted(accepted))
        {
            Record("pnh.push", ActivityKind.Client, accepted, channel, time);
        }
    }

    private static bool IsWanted(Event accepted) => accepted.TraceParent is not null && Source.HasListeners();

    private static void Record(string name, ActivityKind kind, Event accepted, string? channel, TimeProvider time)
    {
        if (!ActivityContext.TryParse(accepted.TraceParent, traceState: null, isRemote: true, out var parent))
        {
            return;
        }

        var end = time.GetUtcNow();
        var start = end - time.GetElapsedTime(accepted.AcceptedTimestamp);
        using var span = Source.StartActivity(name, kind, parent, tags: null, links: null, start);
        span?.SetTag("pnh.app", accepted.App).SetTag("pnh.event", accepted.Id).SetTag("pnh.class", accepted.Class.Label()).SetTag("pnh.channel", channel).SetEndTime(end.UtcDateTime);
    }
}
