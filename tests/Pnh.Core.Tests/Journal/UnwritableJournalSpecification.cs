using System.Text;
using Pnh.Core.Events;
using Pnh.Core.Journal;
using Pnh.Core.Stores;

namespace Pnh.Core.Tests.Journal;

/// <summary>What every journal must do while nothing can be written: it says so, loses nothing that it was told, and goes on by itself.</summary>
public abstract class UnwritableJournalSpecification
{
    private const string App = "app";

    [Fact(Timeout = 120_000)]
    public async Task AppendAsync_NothingCanBeWritten_IsRefusedAndTheIdStaysFree()
    {
        await using var living = await OpenAsync();
        await living.BreakAsync();
        await Assert.ThrowsAsync<StoreUnavailableException>(() => AppendAsync(living, "e1", "{}"));

        await living.MendAsync();
        await EventuallyAsync(() => AppendAsync(living, "e2", "{}"));
        Assert.Equal(AppendResult.Appended, await AppendAsync(living, "e1", """{"other":1}"""));
        await living.ReopenAsync();
        Assert.Equal(["e1", "e2"], (await OpenEventsAsync(living)).Order());
    }

    [Fact(Timeout = 120_000)]
    public async Task FlushAsync_NothingCanBeWritten_IsRefusedAndTheNotesAreKept()
    {
        await using var living = await OpenAsync();
        await AppendAsync(living, "e1", "{}");
        await living.Journal.FlushAsync(default);
        await living.BreakAsync();
        living.Journal.Note(Outcome(living, "e1"));
        living.Journal.NoteAddress(new AddressNote(App, "ada", "phone", "fcm", "dead", null, living.Now));
        await Assert.ThrowsAsync<StoreUnavailableException>(() => living.Journal.FlushAsync(default).AsTask());

        await living.MendAsync();
        await EventuallyAsync(() => living.Journal.FlushAsync(default).AsTask());
        await living.ReopenAsync();
        Assert.Equal("acked", Assert.Single((await living.Journal.ReadAsync(App, "e1", default))!.Milestones).State);
        var feed = (await living.Journal.ReadFeedAsync(App, null, 10, default)).Entries;
        Assert.Equal((2, 1), (feed.Count, feed.Count(static entry => entry.Address is not null)));
    }

    [Fact(Timeout = 120_000)]
    public async Task Finish_NothingCanBeWritten_IsWrittenAfterwards()
    {
        await using var living = await OpenAsync();
        await AppendAsync(living, "done", "{}");
        await AppendAsync(living, "open", "{}");
        await living.BreakAsync();
        living.Journal.Finish(App, "done");
        await Assert.ThrowsAsync<StoreUnavailableException>(() => living.Journal.FlushAsync(default).AsTask());

        await living.MendAsync();
        await EventuallyAsync(() => living.Journal.FlushAsync(default).AsTask());
        await living.ReopenAsync();
        Assert.Equal(["open"], await OpenEventsAsync(living));
    }

    [Fact(Timeout = 120_000)]
    public async Task WithdrawAsync_NothingCanBeWritten_IsRefusedAndDoesNotStand()
    {
        await using var living = await OpenAsync();
        await AppendAsync(living, "e1", "{}");
        await living.BreakAsync();
        await Assert.ThrowsAsync<StoreUnavailableException>(() => WithdrawAsync(living));

        await living.MendAsync();
        Assert.Equal(WithdrawStatus.Withdrawn, await EventuallyAsync(() => WithdrawAsync(living)));
        Assert.Equal(WithdrawStatus.Already, await WithdrawAsync(living));
    }

    /// <summary>A new journal of the engine.</summary>
    private protected abstract Task<ILivingJournal> OpenAsync();

    private static Task<AppendResult> AppendAsync(ILivingJournal living, string id, string body) => living.Journal.AppendAsync(
        new Event
        {
            App = App,
            Id = id,
            IdGiven = true,
            To = EventTarget.ToUser("ada"),
            AcceptedAt = living.Now,
            ExpiresAt = living.Now + TimeSpan.FromHours(1),
            Body = Encoding.UTF8.GetBytes(body),
        },
        default).AsTask();

    private static async Task<WithdrawStatus> WithdrawAsync(ILivingJournal living) =>
        (await living.Journal.WithdrawAsync(App, "e1", null, "withdrawn", living.Now, default)).Status;

    private static Milestone Outcome(ILivingJournal living, string id) =>
        new(App, id, EventClass.Message, MilestoneKind.Settled, living.Now) { User = "ada", Device = "phone", State = "acked" };

    private static async Task<List<string>> OpenEventsAsync(ILivingJournal living)
    {
        var found = new List<string>();
        await foreach (var unfinished in living.Journal.RecoverAsync(default))
        {
            found.Add(unfinished.Event.Id);
        }

        return found;
    }

    private static async Task EventuallyAsync(Func<Task> act) => await EventuallyAsync(async () =>
    {
        await act();
        return true;
    });

    // An engine may need a moment to see that it can write again; the test's time bounds it.
    private static async Task<T> EventuallyAsync<T>(Func<Task<T>> act)
    {
        while (true)
        {
            try
            {
                return await act();
            }
            catch (StoreUnavailableException)
            {
                await Task.Delay(20);
            }
        }
    }
}
