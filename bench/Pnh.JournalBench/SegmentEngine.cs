using Pnh.Core.Events;
using Pnh.Core.Journal;
using Pnh.Storage.Segments;

namespace Pnh.JournalBench;

/// <summary>The hub's own engine.</summary>
internal sealed class SegmentEngine : IEngine
{
    private readonly SegmentJournal _journal;
    private long _commits;

    public SegmentEngine(string folder) =>
        _journal = SegmentJournal.Open(folder, TimeProvider.System, new JournalOptions { OnSync = _ => _commits++ });

    public string Name => "segments";

    public long Commits => Interlocked.Read(ref _commits);

    public async ValueTask AppendAsync(Event accepted) => await _journal.AppendAsync(accepted, CancellationToken.None);

    public void End(Event accepted)
    {
        _journal.Note(new Milestone(accepted.App, accepted.Id, accepted.Class, MilestoneKind.Settled, accepted.AcceptedAt)
        {
            User = "user-000001",
            Device = "phone-1",
            State = "acked",
            Channel = "websocket",
        });
        _journal.Finish(accepted.App, accepted.Id);
    }

    public ValueTask DisposeAsync() => _journal.DisposeAsync();
}
