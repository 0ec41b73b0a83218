using System.Text;
using Pnh.Core.Events;
using Pnh.Core.Journal;
using Pnh.Storage.Segments;

namespace Pnh.Core.Tests.Journal;

/// <summary>A journal on a folder in memory, with the few calls that tests of faults need.</summary>
internal sealed class JournalOnDisk : TimeProvider, ILivingJournal
{
    private readonly JournalOptions _options;
    private long _timestamp;

    public JournalOnDisk(CrashFolder? folder = null, JournalOptions? options = null)
    {
        Folder = folder ?? new CrashFolder();
        _options = (options ?? new JournalOptions()) with { SegmentBytes = 256 * 1024 };
        Journal = SegmentJournal.Open(Folder, this, _options);
    }

    public CrashFolder Folder { get; }

    public SegmentJournal Journal { get; private set; }

    IEventJournal ILivingJournal.Journal => Journal;

    public TimeProvider Clock => this;

    public DateTimeOffset Now { get; set; } = new(2026, 5, 1, 12, 0, 0, TimeSpan.Zero);

    /// <summary>Each look at the clock finds 10 ms gone: work with a budget of time does the least that it does at once.</summary>
    public bool IsSlow { get; set; }

    /// <summary>How far its stopwatch is ahead of the real one.</summary>
    public TimeSpan Ahead { get; set; }

    public override DateTimeOffset GetUtcNow() => Now;

    public override long GetTimestamp() =>
        IsSlow ? _timestamp += TimestampFrequency / 100 : base.GetTimestamp() + (long)(Ahead.TotalSeconds * TimestampFrequency);

    public Task<AppendResult> AppendAsync(string id, int bytes = 2, int hours = 1) => Journal.AppendAsync(
        new Event
        {
            App = "app",
            Id = id,
            To = EventTarget.ToUser("ada"),
            AcceptedAt = Now,
            ExpiresAt = Now + TimeSpan.FromHours(hours),
            Body = Encoding.UTF8.GetBytes("\"" + new string('x', bytes) + "\""),
        },
        default).AsTask();

    public void Note(string id, MilestoneKind kind, string device) =>
        Journal.Note(new Milestone("app", id, EventClass.Message, kind, Now) { User = "ada", Device = device, State = "acked" });

    public async Task<List<string>> MilestonesAsync(string id) =>
        [.. (await Journal.ReadAsync("app", id, default))!.Milestones.Select(milestone => milestone.Device!)];

    public async Task<List<string>> OpenAsync()
    {
        var ids = new List<string>();
        await foreach (var unfinished in Journal.RecoverAsync(default))
        {
            ids.Add(unfinished.Event.Id);
        }

        return ids;
    }

    public async Task ReopenAsync()
    {
        await Journal.DisposeAsync();
        Journal = SegmentJournal.Open(Folder, this, _options);
    }

    public Task BreakAsync()
    {
        Folder.WriteFault = new IOException("full", 28);
        return Task.CompletedTask;
    }

    public Task MendAsync()
    {
        Folder.WriteFault = null;
        return Task.CompletedTask;
    }

    public ValueTask DisposeAsync() => Journal.DisposeAsync();
}
