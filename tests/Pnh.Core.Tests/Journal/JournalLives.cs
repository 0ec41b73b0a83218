using System.Globalization;
using System.Text;
using Pnh.Core.Events;
using Pnh.Core.Journal;
using Pnh.Core.Plans;
using Pnh.TestKit;

namespace Pnh.Core.Tests.Journal;

/// <summary>Random lives of days, with restarts: an engine answers what the model answers.</summary>
internal static class JournalLives
{
    private const string App = "app";

    // A withdrawal is written by its own method only, and how far a fan-out came is of no delivery.
    private static readonly MilestoneKind[] Kinds = [.. Enum.GetValues<MilestoneKind>().Where(static kind => kind is not (MilestoneKind.Withdrawn or MilestoneKind.Reached))];

    /// <summary>One life, the same for the same seed. The journal is new, and its app <c>app</c> is nobody else's.</summary>
    internal static async Task LiveAsync(int seed, ILivingJournal living, int steps = 1_500)
    {
        var random = new Random(seed);
        var model = new ModelJournal(living.Clock, TimeSpan.FromHours(24));
        for (var step = 0; step < steps; step++)
        {
            await StepAsync(random, living, model);
        }

        for (var id = 0; id < 60; id++)
        {
            await CompareAsync(living, model, Id(id));
        }

        await CompareAllAsync(living, model);
    }

    private static async Task StepAsync(Random random, ILivingJournal living, ModelJournal model)
    {
        var id = Id(random.Next(60));
        var user = random.Next(4) switch { 0 => null, var n => "user-" + (char)('a' + n) };
        switch (random.Next(40))
        {
            case < 12:
                var accepted = Make(random, living, id);
                Assert.Equal(await model.AppendAsync(accepted, default), await living.Journal.AppendAsync(accepted, default));
                break;
            case < 25 when await model.FindAsync(App, id, default) is not null:
                var milestone = new Milestone(App, id, EventClass.Message, Kinds[random.Next(Kinds.Length)], living.Now)
                {
                    User = user,
                    Device = user is null ? null : "device-" + random.Next(3),
                    IsKept = random.Next(2) == 0,
                    State = random.Next(3) switch { 0 => "failed", 1 => "acked", _ => null },
                    Reason = random.Next(4) switch { 0 or 1 => null, 2 => PlanReasons.JoinedTopic, _ => "grund-ü" },
                    Attempts = random.Next(5),
                };
                if (milestone.Kind == MilestoneKind.Rested)
                {
                    // A whole event seldom: a start leaves it out from then on.
                    milestone = milestone with { State = random.Next(2) == 0 ? null : "accepted", Reason = null, NextAttemptAt = living.Now.AddMinutes(random.Next(3_000)) };
                    milestone = user is null && random.Next(3) > 0 ? milestone with { User = "user-a", Device = "device-0" } : milestone;
                }

                model.Note(milestone);
                living.Journal.Note(milestone);
                break;
            case < 27:
                model.Finish(App, id);
                living.Journal.Finish(App, id);
                break;
            case < 28:
                var note = new AddressNote(App, "user-a", "device-1", "fcm", "dead", null, living.Now);
                model.NoteAddress(note);
                living.Journal.NoteAddress(note);
                break;
            case < 31:
                var expected = await model.WithdrawAsync(App, id, user, "withdrawn", living.Now, default);
                var given = await living.Journal.WithdrawAsync(App, id, user, "withdrawn", living.Now, default);
                Assert.Equal(expected.Status, given.Status);
                AssertSame(expected.History, given.History);
                break;
            case < 36:
                // Also instead of a note for what is over: whether one is kept then depends on when its segment goes.
                await CompareAsync(living, model, id);
                AssertSame(await ReadOfAsync(model, id, "user-a"), await ReadOfAsync(living.Journal, id, "user-a"));
                break;
            case < 37:
                await living.Journal.ReadAsync(App, "barrier", default);
                Assert.Equal(SharesOf(await model.ReadOverAsync(living.Now, int.MaxValue, default)), SharesOf(await living.Journal.ReadOverAsync(living.Now, int.MaxValue, default)));
                break;
            case < 39:
                living.Now += TimeSpan.FromMinutes(random.Next(180));
                break;
            default:
                await CompareAllAsync(living, model);
                await living.ReopenAsync();
                model.Reopen();
                break;
        }
    }

    private static async Task CompareAsync(ILivingJournal living, ModelJournal model, string id)
    {
        AssertSame(await model.ReadAsync(App, id, default), await living.Journal.ReadAsync(App, id, default));
        Assert.Equal(await model.FindAsync(App, id, default) is null, await living.Journal.FindAsync(App, id, default) is null);
    }

    private static ValueTask<EventHistory?> ReadOfAsync(IEventJournal journal, string id, string user) => journal.ReadAsync(App, id, user, default);

    /// <summary>Behind every note: what a restart would find, and the feed, of which the oldest may be gone.</summary>
    private static async Task CompareAllAsync(ILivingJournal living, ModelJournal model)
    {
        await living.Journal.ReadAsync(App, "barrier", default);
        var expected = await UnfinishedAsync(model);
        var given = await UnfinishedAsync(living.Journal);
        Assert.Equal(expected.Keys.Order(), given.Keys.Order());
        foreach (var (id, unfinished) in given)
        {
            Assert.Equal(expected[id].IsDispatched, unfinished.IsDispatched);
            Assert.Equal(expected[id].Withdrawn, unfinished.Withdrawn);
            Assert.Equal(expected[id].Deliveries, unfinished.Deliveries);
            Assert.Equal(expected[id].Event.Body.ToArray(), unfinished.Event.Body.ToArray());
        }

        foreach (var user in (string[])["user-a", "user-b", "user-d"])
        {
            var ofUser = await OfUserAsync(model, user);
            var found = await OfUserAsync(living.Journal, user);
            Assert.Equal(ofUser.Keys.Order(), found.Keys.Order());
            Assert.All(found, one => AssertSame(ofUser[one.Key], one.Value));
        }

        foreach (var (user, device) in from user in (string[])["user-a", "user-b", "user-d"] from device in (string[])["device-0", "device-1", "device-2"] select (user, device))
        {
            var mail = await living.Journal.ReadMailAsync(App, user, device, null, default);
            Assert.Equal(LinesOf(await model.ReadMailAsync(App, user, device, null, default)), LinesOf(mail));
            Assert.InRange(mail.Count, 0, living.Journal.CountMail(App, user, device));
        }

        Assert.Equal(await FailuresAsync(model), await FailuresAsync(living.Journal));

        // What was carried on is left out.
        Assert.Subset(await RecentAsync(model), await RecentAsync(living.Journal));
        var feed = await FeedAsync(living.Journal);
        Assert.Equal((await FeedAsync(model)).TakeLast(feed.Count), feed);
    }

    private static IEnumerable<string> LinesOf(IReadOnlyList<RestingEvent> events) => events.Select(static one => $"{one.Event.Id} {one.IsSettled} {one.IsAlone}");

    private static IEnumerable<string> SharesOf(IReadOnlyList<UnfinishedEvent> events) =>
        events.SelectMany(static one => one.Deliveries.Select(delivery => $"{one.Event.Id} {delivery}")).Order(StringComparer.Ordinal);

    private static async Task<Dictionary<string, UnfinishedEvent>> UnfinishedAsync(IEventJournal journal)
    {
        var found = new Dictionary<string, UnfinishedEvent>();
        await foreach (var unfinished in journal.RecoverAsync(default))
        {
            found.Add(unfinished.Event.Id, unfinished);
        }

        return found;
    }

    /// <summary>As lines, sorted: what is carried on stands elsewhere.</summary>
    private static async Task<SortedSet<string>> FailuresAsync(IEventJournal journal)
    {
        var found = new SortedSet<string>(StringComparer.Ordinal);
        for (string? before = null; ;)
        {
            var page = await journal.ReadFailuresAsync(App, before, 3, default);
            found.UnionWith(page.Events.SelectMany(static one => one.Milestones.Select(m => $"{one.Event.Id} {m.User} {m.Device} {m.State} {m.At:O}")));
            if (page.Next is null)
            {
                return found;
            }

            before = page.Next;
        }
    }

    private static async Task<HashSet<string>> RecentAsync(IEventJournal journal)
    {
        var found = new HashSet<string>();
        for (string? before = null; ;)
        {
            var page = await journal.ReadRecentAsync(App, before, 3, default);
            Assert.InRange(page.Events.Count, 0, 3);
            Assert.All(page.Events, one => Assert.True(found.Add($"{one.Event.Id} {string.Join(' ', one.Milestones.Select(static m => m.Kind))}")));
            if (page.Next is null)
            {
                return found;
            }

            before = page.Next;
        }
    }

    private static async Task<Dictionary<string, EventHistory>> OfUserAsync(IEventJournal journal, string user)
    {
        var found = new Dictionary<string, EventHistory>();
        for (string? before = null; ;)
        {
            var page = await journal.ReadUserAsync(App, user, before, 3, default);
            Assert.InRange(page.Events.Count, 0, 3);
            foreach (var one in page.Events)
            {
                // Once more when it was carried on between two pages.
                found[one.Event.Id] = one;
            }

            if (page.Next is null)
            {
                return found;
            }

            before = page.Next;
        }
    }

    private static async Task<List<(Milestone? Outcome, AddressNote? Address)>> FeedAsync(IEventJournal journal)
    {
        var found = new List<(Milestone? Outcome, AddressNote? Address)>();
        for (string? after = null; ;)
        {
            var page = await journal.ReadFeedAsync(App, after, 7, default);
            found.AddRange(page.Entries.Select(entry => (entry.Outcome, entry.Address)));
            if (page.IsEnd)
            {
                return found;
            }

            after = page.Next;
        }
    }

    private static void AssertSame(EventHistory? expected, EventHistory? given)
    {
        Assert.Equal(expected is null, given is null);
        if (expected is not null && given is not null)
        {
            Assert.Equal(expected.Milestones, given.Milestones);
            Assert.Equal(expected.Event with { Body = default }, given.Event with { Body = default });
            Assert.Equal(expected.Event.Body.ToArray(), given.Event.Body.ToArray());
        }
    }

    private static Event Make(Random random, ILivingJournal living, string id) => new()
    {
        App = App,
        Id = id,
        IdGiven = random.Next(2) == 0 || !living.LooksForMadeIds,
        Class = EventClass.Message,
        To = EventTarget.ToUser("ada"),
        AcceptedAt = living.Now,
        ExpiresAt = living.Now + TimeSpan.FromHours(random.Next(60)),
        TraceParent = random.Next(2) == 0 ? "00-1-2-03" : null,
        Body = Encoding.UTF8.GetBytes("{\"a\":\"" + new string('x', random.Next(3) * 9_000) + "\"}"),
    };

    private static string Id(int n) => n.ToString("d2", CultureInfo.InvariantCulture);
}
