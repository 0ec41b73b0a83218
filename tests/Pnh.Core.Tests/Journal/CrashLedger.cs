using System.Text;
using Pnh.Core.Events;
using Pnh.Core.Journal;
using Pnh.Core.Stores;
using Pnh.Storage.Segments;

namespace Pnh.Core.Tests.Journal;

/// <summary>
/// Drives a journal and keeps, outside of it, what it confirmed; then says of a journal that was opened after a crash whether it kept its word.
/// </summary>
internal sealed class CrashLedger
{
    private const string App = "app";

    private readonly Dictionary<string, Event> _attempted;
    private readonly HashSet<string> _accepted;
    private readonly HashSet<string> _finishAsked;
    private readonly HashSet<string> _finished;
    private readonly HashSet<(string Id, string? User)> _withdrawn;
    private readonly Dictionary<string, List<Milestone>> _noted;
    private readonly Dictionary<string, int> _confirmed;

    public CrashLedger() => (_attempted, _accepted, _finishAsked, _finished, _withdrawn, _noted, _confirmed) = ([], [], [], [], [], [], []);

    /// <summary>A ledger that goes on by itself from where the other is.</summary>
    public CrashLedger(CrashLedger other)
    {
        Now = other.Now;
        (_attempted, _accepted, _finishAsked) = (new(other._attempted), new(other._accepted), new(other._finishAsked));
        (_finished, _withdrawn, _noted, _confirmed) = (new(other._finished), new(other._withdrawn), new(other._noted), new(other._confirmed));
    }

    public DateTimeOffset Now { get; set; } = new(2026, 5, 1, 12, 0, 0, TimeSpan.Zero);

    public async Task AppendAsync(IEventJournal journal, string id, int bytes = 2, int hours = 1)
    {
        var accepted = new Event
        {
            App = App,
            Id = id,
            To = EventTarget.ToUser("ada"),
            AcceptedAt = Now,
            ExpiresAt = Now + TimeSpan.FromHours(hours),
            Body = Encoding.UTF8.GetBytes("{\"" + new string((char)('a' + (id[^1] % 26)), bytes) + "\":1}"),
        };
        _attempted[id] = accepted;
        if (await TryAsync(async () => Assert.Equal(AppendResult.Appended, await journal.AppendAsync(accepted, default))))
        {
            lock (_accepted)
            {
                _accepted.Add(id);
            }
        }
    }

    public void Note(IEventJournal journal, string id, MilestoneKind kind, string device)
    {
        var milestone = new Milestone(App, id, EventClass.Message, kind, Now) { User = "ada", Device = device, IsKept = true };
        if (!_noted.TryGetValue(id, out var noted))
        {
            noted = _noted[id] = [];
        }

        noted.Add(milestone);
        journal.Note(milestone);
    }

    public void Finish(IEventJournal journal, string id)
    {
        _finishAsked.Add(id);
        journal.Finish(App, id);
    }

    /// <summary>What was noted before is on stable storage once a read behind it answered and nothing is refused.</summary>
    public async Task ConfirmAsync(SegmentJournal journal, string id)
    {
        var asked = _finishAsked.ToList();
        var counts = _noted.ToDictionary(noted => noted.Key, noted => noted.Value.Count);
        if (await TryAsync(async () => await journal.ReadAsync(App, id, default)) && journal.Refusal is null)
        {
            _finished.UnionWith(asked);
            foreach (var (noted, count) in counts)
            {
                _confirmed[noted] = count;
            }
        }
    }

    public async Task WithdrawAsync(IEventJournal journal, string id, string? user)
    {
        var status = WithdrawStatus.Unknown;
        if (await TryAsync(async () => status = (await journal.WithdrawAsync(App, id, user, "withdrawn", Now, default)).Status))
        {
            Assert.Equal(_accepted.Contains(id) ? WithdrawStatus.Withdrawn : WithdrawStatus.Unknown, status);
            if (status == WithdrawStatus.Withdrawn)
            {
                _withdrawn.Add((id, user));
            }
        }
    }

    /// <summary>Throws when the journal forgot, halved or made up anything.</summary>
    public async Task CheckAsync(IEventJournal journal)
    {
        var found = new Dictionary<string, UnfinishedEvent>();
        await foreach (var unfinished in journal.RecoverAsync(default))
        {
            Assert.True(found.TryAdd(unfinished.Event.Id, unfinished), "an event came twice");
            Assert.True(_attempted.TryGetValue(unfinished.Event.Id, out var attempted), "an event nobody sent");
            Assert.Equal(attempted.Body.ToArray(), unfinished.Event.Body.ToArray());
            Assert.DoesNotContain(unfinished.Event.Id, _finished);
        }

        foreach (var id in _accepted.Where(id => _attempted[id].ExpiresAt > Now && !_finishAsked.Contains(id)))
        {
            Assert.True(found.ContainsKey(id), $"{id} was lost");
            var history = await journal.ReadAsync(App, id, default);
            var milestones = history!.Milestones.Where(milestone => milestone.Kind != MilestoneKind.Withdrawn).ToList();
            var noted = _noted.GetValueOrDefault(id, []);
            Assert.InRange(milestones.Count, _confirmed.GetValueOrDefault(id), noted.Count);
            Assert.Equal(noted.Take(milestones.Count), milestones);
        }

        foreach (var (id, user) in _withdrawn.Where(withdrawn => found.ContainsKey(withdrawn.Id)))
        {
            Assert.Equal(WithdrawStatus.Already, (await journal.WithdrawAsync(App, id, user, "again", Now, default)).Status);
        }
    }

    /// <summary>It takes new events, knows the old ones' ids, and keeps both.</summary>
    public async Task GoOnAsync(IEventJournal journal, string id)
    {
        await AppendAsync(journal, id);
        Assert.Contains(id, _accepted);
        Assert.Equal(AppendResult.Duplicate, await journal.AppendAsync(_attempted[id], default));
    }

    private static async Task<bool> TryAsync(Func<Task> action)
    {
        try
        {
            await action();
            return true;
        }
        catch (StoreUnavailableException)
        {
            return false;
        }
    }
}
