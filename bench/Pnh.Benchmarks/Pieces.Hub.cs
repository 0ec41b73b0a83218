using Pnh.Core.Events;
using Pnh.Core.Journal;

namespace Pnh.Benchmarks;

/// <summary>Events through the hub: from accepting to the link, and back with the ack.</summary>
internal static partial class Pieces
{
    private static Piece Post(string @class)
    {
        const int Users = 2_000;
        var hub = new BenchHub().Open(Users);
        var events = new Event[Users];
        for (var i = 0; i < Users; i++)
        {
            events[i] = hub.Parse($$"""{"to":{"user":"{{BenchHub.User(i)}}"},"class":"{{@class}}",{{Data}}}""");
        }

        var next = 0;
        return Warm(Users, new Piece(() =>
        {
            next = next == Users - 1 ? 0 : next + 1;
            hub.Accept(events[next]);
            if (events[next].IsDurable)
            {
                hub.Hub.Router.Acked(hub.Sessions[next], events[next].Id);
            }
        }, 1, hub));
    }

    private static Piece FanOut(string @class, int sessions, IEventJournal? journal = null)
    {
        var hub = new BenchHub(journal).Open(sessions, static _ => "room");
        var json = $$"""{"to":{"topic":"room"},"class":"{{@class}}",{{Data}}}""";
        var once = hub.Parse(json);
        return new Piece(() =>
        {
            // A real journal knows an id that it has seen.
            var accepted = journal is null ? once : hub.Parse(json);
            hub.Accept(accepted);
            if (accepted.IsDurable)
            {
                foreach (var session in hub.Sessions)
                {
                    hub.Hub.Router.Acked(session, accepted.Id);
                }
            }
        }, sessions, hub);
    }

    private static Piece Rooms()
    {
        const int Topics = 6_000;
        var hub = new BenchHub().Open(3 * Topics, static i => $"room-{i % Topics}");
        var events = new Event[Topics];
        for (var i = 0; i < Topics; i++)
        {
            events[i] = hub.Parse($$"""{"to":{"topic":"room-{{i}}"},"class":"transient",{{Data}}}""");
        }

        var next = 0;
        return Warm(Topics, new Piece(() =>
        {
            next = (next + 37) % Topics;
            hub.Accept(events[next]);
        }, 1, hub));
    }

    // Every user and topic was read once: a first read of the registry is not what is measured.
    private static Piece Warm(int times, Piece piece)
    {
        for (var i = 0; i < times; i++)
        {
            piece.Run();
        }

        return piece;
    }
}
