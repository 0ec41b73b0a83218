using System.Globalization;
using System.Text;
using Npgsql;
using Pnh.Core.Events;
using Pnh.Core.Journal;
using Pnh.Core.Stores;
using Pnh.Core.Tests.Journal;
using Pnh.Storage.Postgres;
using Pnh.TestKit;

namespace Pnh.Core.Tests.Postgres;

/// <summary>The journal's specification on PostgreSQL, but for mail; and what a broken session does.</summary>
public sealed class PostgresEventsTests
{
    private static readonly TimeSpan Retention = TimeSpan.FromHours(24);

    /// <summary>The facts that speak of events and of what was noted of them.</summary>
    public static IEnumerable<object[]> Events => Specification.RowsOf(typeof(EventJournalSpecification)).Where(static row =>
        ((string)row[0]).Split('_')[0] is "AppendAsync" or "RecoverAsync" or "WithdrawAsync" or "ReadAsync" or "ReadUserAsync" or "ReadRecentAsync" or "ReadFeedAsync"
        && (string)row[0] != "RecoverAsync_EventRests_IsLeftOutAndItsIdStands"); // which reads mail

    [PostgresTheory]
    [MemberData(nameof(Events))]
    public Task Events_OnPostgres_AreAsSpecified(string fact, object?[] arguments) => Specification.RunAsync(new EventFacts(), fact, arguments);

    [PostgresFact]
    public async Task Events_SeveralTerms_NumbersRiseWithTheOrderOfCommits()
    {
        var database = await DatabaseAsync();
        for (var term = 0; term < 3; term++)
        {
            await using var events = await OpenAsync(database);
            await AppendAsync(events, $"t{term}-a");
            await AppendAsync(events, $"t{term}-b");
        }

        Assert.Equal(["t0-a", "t0-b", "t1-a", "t1-b", "t2-a", "t2-b"], await TextsAsync(database, "SELECT id FROM pnh.events ORDER BY no"));
        Assert.Equal(3, (await TextsAsync(database, "SELECT DISTINCT (no >> 20)::text FROM pnh.events")).Count);
    }

    [PostgresFact]
    public async Task Rest_OnlyMailIsLeft_AStartLeavesItOutAndItsIdStands()
    {
        var database = await DatabaseAsync();
        await using (var events = await OpenAsync(database))
        {
            await AppendAsync(events, "rests");
            await AppendAsync(events, "open");
            events.Note(new Milestone("app", "rests", EventClass.Message, MilestoneKind.Rested, Now) { NextAttemptAt = Now.AddHours(1) });
            await events.FlushAsync(default);
        }

        await using var next = await OpenAsync(database);
        Assert.Equal(["open"], await RecoverAsync(next));
        Assert.Equal(AppendResult.Duplicate, await AppendAsync(next, "rests"));
    }

    [PostgresFact]
    public async Task Append_SessionsAreEndedAllTheTime_NoneIsLostAndNoneStandsTwice()
    {
        var database = await DatabaseAsync();
        await using var events = await OpenAsync(database);
        using var stop = new CancellationTokenSource();
        var ending = Task.Run(async () =>
        {
            while (!stop.IsCancellationRequested)
            {
                await EndSessionsAsync(database);
                await Task.Delay(30);
            }
        });

        var known = await Task.WhenAll(Enumerable.Range(0, 16).Select(publisher => Task.Run(async () =>
        {
            var accepted = new List<string>();
            for (var n = 0; n < 40; n++)
            {
                // Of an id that PNH makes nobody can ask again: it is there once, or was refused.
                var id = string.Create(CultureInfo.InvariantCulture, $"p{publisher}-{n}");
                try
                {
                    Assert.Equal(AppendResult.Appended, await AppendAsync(events, id, isGiven: n % 2 == 0));
                    accepted.Add(id);
                }
                catch (StoreUnavailableException)
                {
                    // Neither session could be had.
                }
            }

            return accepted;
        })));
        await stop.CancelAsync();
        await ending;

        var found = await TextsAsync(database, "SELECT id FROM pnh.events");
        Assert.Equal(found.Count, found.Distinct().Count());
        Assert.Empty(known.SelectMany(static one => one).Except(found));
        Assert.True(known.Sum(static one => one.Count) > 100);
    }

    [PostgresFact]
    public async Task Notes_SessionWasEnded_AreWrittenOnTheNextOne()
    {
        var database = await DatabaseAsync();
        await using (var events = await OpenAsync(database))
        {
            await AppendAsync(events, "done");
            await EndSessionsAsync(database);
            events.Finish("app", "done");
            await events.FlushAsync(default);
            Assert.Null(events.Refusal);
        }

        await using var next = await OpenAsync(database);
        Assert.Empty(await RecoverAsync(next));
    }

    /// <summary>Notes and events in one transaction, whose answer is lost now and then: each note stands once, in its order.</summary>
    [PostgresFact]
    public async Task Notes_SessionsAreEndedAllTheTime_EachStandsOnce()
    {
        var database = await DatabaseAsync();
        await using var events = await OpenAsync(database);
        await AppendAsync(events, "noted");
        using var stop = new CancellationTokenSource();
        var ending = Task.Run(async () =>
        {
            while (!stop.IsCancellationRequested)
            {
                await EndSessionsAsync(database);
                await Task.Delay(20);
            }
        });
        for (var n = 0; n < 400; n++)
        {
            events.Note(new Milestone("app", "noted", EventClass.Message, MilestoneKind.Framed, Now) { User = $"user-{n % 3}", Device = n.ToString(CultureInfo.InvariantCulture) });
            if (n % 4 == 0)
            {
                try
                {
                    await events.FlushAsync(default);
                }
                catch (StoreUnavailableException)
                {
                    // It stays noted.
                }
            }
        }

        await stop.CancelAsync();
        await ending;
        Assert.Equal(
            Enumerable.Range(0, 400).Select(static n => n.ToString(CultureInfo.InvariantCulture)), (await events.ReadAsync("app", "noted", user: null, default))!.Milestones.Select(static one => one.Device));
    }

    [PostgresFact]
    public async Task Server_IsStoppedAndStarted_IsRefusedMeanwhileAndGoesOnByItself()
    {
        await using var server = await PostgresServer.StartAsync();
        var database = await server.CreateDatabaseAsync();
        await using var events = await OpenAsync(database);
        await AppendAsync(events, "before");
        await server.StopAsync();

        await Assert.ThrowsAsync<StoreUnavailableException>(() => AppendAsync(events, "during"));
        Assert.Equal("PostgreSQL cannot be reached.", events.Refusal);
        events.Finish("app", "before");

        await server.StartAgainAsync();
        Assert.Equal(AppendResult.Appended, await AppendAsync(events, "after"));
        await events.FlushAsync(default);
        Assert.Equal(["after"], await RecoverAsync(events));
    }

    [Fact]
    public void Partitions_OfEventsOfADay_AreFewAndGoNoSoonerThanTheEventsInThem()
    {
        var partitions = new PostgresPartitions(TimeSpan.FromDays(7));
        var epoch = new DateTimeOffset(2026, 1, 1, 0, 0, 0, TimeSpan.Zero);
        var random = new Random(1);
        var gens = new HashSet<long>();
        for (var n = 0; n < 10_000; n++)
        {
            var at = Now.AddSeconds(random.Next(7 * 86_400));
            var expires = at.AddMinutes(random.Next(28 * 1_440));
            var gen = partitions.Of(at, expires);
            var goes = epoch.AddMinutes(gen);
            Assert.True(goes >= expires && goes >= at.AddDays(7));
            Assert.True(goes - (expires > at.AddDays(7) ? expires : at.AddDays(7)) <= TimeSpan.FromDays(7));
            gens.Add(gen);
        }

        Assert.InRange(gens.Count, 4, 12);
    }

    private static DateTimeOffset Now { get; } = new(2026, 5, 1, 12, 0, 0, TimeSpan.Zero);

    private static async Task<string> DatabaseAsync() => await (await PostgresServer.SharedAsync()).CreateDatabaseAsync();

    private static Task<PostgresEvents> OpenAsync(string database, TimeProvider? time = null) => PostgresEvents.OpenAsync(database, time ?? new ManualTime(), Retention);

    private static Task<AppendResult> AppendAsync(PostgresEvents events, string id, bool isGiven = true) => events.AppendAsync(
        new Event
        {
            App = "app",
            Id = id,
            IdGiven = isGiven,
            To = EventTarget.ToUser("ada"),
            AcceptedAt = Now,
            ExpiresAt = Now.AddHours(1),
            Body = Encoding.UTF8.GetBytes("{}"),
        },
        default).AsTask();

    private static async Task<List<string>> RecoverAsync(PostgresEvents events)
    {
        var found = new List<string>();
        await foreach (var unfinished in events.RecoverAsync(default))
        {
            found.Add(unfinished.Event.Id);
        }

        return found;
    }

    private static async Task EndSessionsAsync(string database) => await TextsAsync(
        database, "SELECT pg_terminate_backend(pid)::text FROM pg_locks WHERE locktype = 'advisory' AND database = (SELECT oid FROM pg_database WHERE datname = current_database())");

    private static async Task<List<string>> TextsAsync(string database, string sql)
    {
        await using var source = NpgsqlDataSource.Create(database);
        await using var command = source.CreateCommand(sql);
        await using var rows = await command.ExecuteReaderAsync();
        var texts = new List<string>();
        while (await rows.ReadAsync())
        {
            texts.Add(rows.GetString(0));
        }

        return texts;
    }

    private sealed class EventFacts : EventJournalSpecification
    {
        private string? _database;
        private PostgresEvents? _events;

        protected override async Task<IEventJournal> OpenAsync()
        {
            _database ??= await DatabaseAsync();
            return new EventsAlone(_events = await PostgresEventsTests.OpenAsync(_database, Time));
        }

        protected override Task CloseAsync() => _events!.DisposeAsync().AsTask();
    }

    /// <summary>What of a journal is there yet.</summary>
    private sealed class EventsAlone(PostgresEvents events) : IEventJournal
    {
        public ValueTask<AppendResult> AppendAsync(Event accepted, CancellationToken cancellationToken) => events.AppendAsync(accepted, cancellationToken);

        public ValueTask FlushAsync(CancellationToken cancellationToken) => events.FlushAsync(cancellationToken);

        public void Finish(string app, string id) => events.Finish(app, id);

        public ValueTask<StoredEvent?> FindAsync(string app, string id, CancellationToken cancellationToken) => events.FindAsync(app, id, cancellationToken);

        public IAsyncEnumerable<UnfinishedEvent> RecoverAsync(CancellationToken cancellationToken) => events.RecoverAsync(cancellationToken);

        public void Note(in Milestone milestone) => events.Note(milestone);

        public void NoteAddress(in AddressNote note) => events.NoteAddress(note);

        public ValueTask<WithdrawResult> WithdrawAsync(string app, string id, string? user, string reason, DateTimeOffset at, CancellationToken cancellationToken) =>
            events.WithdrawAsync(app, id, user, reason, at, cancellationToken);

        public ValueTask<EventHistory?> ReadAsync(string app, string id, CancellationToken cancellationToken) => events.ReadAsync(app, id, user: null, cancellationToken);

        public ValueTask<EventHistory?> ReadAsync(string app, string id, string user, CancellationToken cancellationToken) => events.ReadAsync(app, id, user, cancellationToken);

        public ValueTask<UserEventPage> ReadUserAsync(string app, string user, string? before, int limit, CancellationToken cancellationToken) => events.ReadUserAsync(app, user, before, limit, cancellationToken);

        public ValueTask<UserEventPage> ReadFailuresAsync(string app, string? before, int limit, CancellationToken cancellationToken) => events.ReadFailuresAsync(app, before, limit, cancellationToken);

        public ValueTask<UserEventPage> ReadRecentAsync(string app, string? before, int limit, CancellationToken cancellationToken) => events.ReadRecentAsync(app, before, limit, cancellationToken);

        public ValueTask<FeedPage> ReadFeedAsync(string app, string? after, int limit, CancellationToken cancellationToken) => events.ReadFeedAsync(app, after, limit, cancellationToken);
    }
}
