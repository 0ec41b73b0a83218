using Pnh.Core.Events;
using Pnh.Core.Journal;
using Pnh.Storage.Segments;

namespace Pnh.Benchmarks;

/// <summary>The journal, alone and behind the hub, on a disk that costs nothing. Its writer is a thread of its own: look at the process's CPU.</summary>
internal static partial class Pieces
{
    private static SegmentJournal OpenJournal() =>
        SegmentJournal.Open(new NullFolder(), TimeProvider.System, new JournalOptions { MaxBytes = 256 * 1024 * 1024 });

    private static Piece JournalNote()
    {
        const int Notes = 1_000;
        var journal = OpenJournal();
        var note = NewNote("never-accepted", MilestoneKind.Framed, 0);
        return new Piece(() =>
        {
            for (var i = 0; i < Notes; i++)
            {
                journal.Note(note);
            }

            Drain(journal);
        }, Notes, new Ending(journal));
    }

    private static Piece JournalNotes()
    {
        var journal = OpenJournal();
        using var hub = new BenchHub();
        var json = $$"""{"to":{"topic":"room"},{{Data}}}""";
        var reading = new EventReader(ClassPolicies.Default, [ChannelNames.WebSocket]);
        return new Piece(() =>
        {
            var accepted = reading.Read(System.Text.Encoding.UTF8.GetBytes(json), new EventOrigin(BenchHub.App, TimeProvider.System.GetUtcNow(), 1), [])!;
            journal.AppendAsync(accepted, CancellationToken.None).AsTask().GetAwaiter().GetResult();
            for (var i = 0; i < 1_000; i++)
            {
                journal.Note(NewNote(accepted.Id, MilestoneKind.Planned, i));
                journal.Note(NewNote(accepted.Id, MilestoneKind.Framed, i));
            }

            for (var i = 0; i < 1_000; i++)
            {
                journal.Note(NewNote(accepted.Id, MilestoneKind.Settled, i));
            }

            journal.Finish(accepted.App, accepted.Id);
            Drain(journal);
        }, 3_000, new Ending(journal));
    }

    private static Piece JournalPosts()
    {
        const int Users = 2_048;
        const int AtOnce = 64;
        var journal = OpenJournal();
        var hub = new BenchHub(journal).Open(Users);
        var events = new List<Event>(AtOnce);
        var next = 0;
        return new Piece(() =>
        {
            events.Clear();
            for (var i = 0; i < AtOnce; i++)
            {
                events.Add(hub.Parse($$"""{"to":{"user":"{{BenchHub.User((next + i) % Users)}}"},{{Data}}}"""));
            }

            _ = hub.Hub.Acceptor.AcceptManyAsync(events).AsTask().GetAwaiter().GetResult();
            for (var i = 0; i < AtOnce; i++)
            {
                hub.Hub.Router.Acked(hub.Sessions[(next + i) % Users], events[i].Id);
            }

            next += AtOnce;
        }, AtOnce, new Ending(journal, hub));
    }

    private static Piece JournalFanOut()
    {
        var journal = OpenJournal();
        return FanOut("message", 1_000, journal) is var piece ? piece with { End = new Ending(journal, piece.End) } : piece;
    }

    // A read stands behind everything that was noted before it.
    private static void Drain(SegmentJournal journal) => journal.ReadAsync(BenchHub.App, "nobody", CancellationToken.None).AsTask().GetAwaiter().GetResult();

    private static Milestone NewNote(string id, MilestoneKind kind, int user) => new(BenchHub.App, id, EventClass.Message, kind, DateTimeOffset.UnixEpoch)
    {
        User = Users[user],
        Device = "tab-1",
        Channel = ChannelNames.WebSocket,
        State = kind == MilestoneKind.Settled ? "acked" : null,
        Reason = kind == MilestoneKind.Planned ? "joined-topic" : null,
    };

    private static string[] Users { get; } = [.. Enumerable.Range(0, 1_000).Select(BenchHub.User)];

    private sealed class Ending(SegmentJournal journal, IDisposable? before = null) : IDisposable
    {
        public void Dispose()
        {
            before?.Dispose();
            journal.DisposeAsync().AsTask().GetAwaiter().GetResult();
        }
    }
}
