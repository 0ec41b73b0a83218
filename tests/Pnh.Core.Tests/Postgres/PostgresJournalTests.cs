using System.Globalization;
using System.Text;
using Npgsql;
using Pnh.Core.Events;
using Pnh.Core.Journal;
using Pnh.Core.Stores;
using Pnh.Core.Tests.Journal;
using Pnh.Storage.Postgres.Journal;
using Pnh.Storage.Postgres;
using Pnh.TestKit;

namespace Pnh.Core.Tests.Postgres;

/// <summary>The journal's specifications on PostgreSQL, the model's lives, and what a broken session does.</summary>
public sealed class PostgresJournalTests
{
    private static readonly TimeSpan Retention = TimeSpan.FromHours(24);

    public static IEnumerable<object[]> Journals => Specification.RowsOf(typeof(EventJournalSpecification));

    public static IEnumerable<object[]> Unwritable => Specification.RowsOf(typeof(UnwritableJournalSpecification));

    [PostgresTheory]
    [MemberData(nameof(Journals))]
    public Task Journal_OnPostgres_IsAsSpecified(string fact, object?[] arguments) => Specification.RunAsync(new EventFacts(), fact, arguments);

    [PostgresTheory]
    [MemberData(nameof(Unwritable))]
    public Task Journal_OnPostgresThatIsAway_IsAsSpecified(string fact, object?[] arguments) => Specification.RunAsync(new UnwritableFacts(), fact, arguments);

    /// <summary>Random lives of days, with restarts: PostgreSQL answers what the model answers.</summary>
    [PostgresTheory]
    [InlineData(11)]
    [InlineData(12)]
    public async Task RandomLife_EveryAnswer_IsTheModels(int seed)
    {
        await using var life = await PostgresLife.OpenAsync(await PostgresServer.SharedAsync());
        await JournalLives.LiveAsync(seed, life, steps: 500);
    }

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
            Enumerable.Range(0, 400).Select(static n => n.ToString(CultureInfo.InvariantCulture)), (await events.ReadAsync("app", "noted", default))!.Milestones.Select(static one => one.Device));
    }

    [PostgresFact]
    public async Task Append_AnotherHasWrittenMeanwhile_IsRefusedForGood()
    {
        var database = await DatabaseAsync();
        await using var former = await OpenAsync(database);
        await AppendAsync(former, "e1");
        await EndSessionsAsync(database);
        await using (var next = await OpenAsync(database))
        {
            await AppendAsync(next, "e2");
        }

        for (var i = 0; i < 2; i++)
        {
            var fault = await Assert.ThrowsAsync<StoreUnavailableException>(() => AppendAsync(former, "e3"));
            Assert.Equal("Another pnh has written this database since: start this one again.", fault.Message);
        }

        Assert.Equal(["e1", "e2"], await TextsAsync(database, "SELECT id FROM pnh.events ORDER BY no"));
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

    private static Task<PostgresJournal> OpenAsync(string database, TimeProvider? time = null) => PostgresJournal.OpenAsync(database, time ?? new ManualTime(), Retention);

    private static Task<AppendResult> AppendAsync(PostgresJournal events, string id, bool isGiven = true) => events.AppendAsync(
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

    private static async Task<List<string>> RecoverAsync(PostgresJournal events)
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
        private PostgresJournal? _events;

        protected override async Task<IEventJournal> OpenAsync()
        {
            _database ??= await DatabaseAsync();
            return _events = await PostgresJournalTests.OpenAsync(_database, Time);
        }

        protected override Task CloseAsync() => _events!.DisposeAsync().AsTask();
    }

    /// <summary>Each fact on a server of its own, which is stopped.</summary>
    private sealed class UnwritableFacts : UnwritableJournalSpecification
    {
        private protected override async Task<ILivingJournal> OpenAsync() => await PostgresLife.OpenAsync(await PostgresServer.StartAsync(), ownsServer: true);
    }

    private sealed class PostgresLife(PostgresServer server, string database, bool ownsServer) : ILivingJournal
    {
        private readonly ManualTime _time = new();
        private PostgresJournal? _journal;

        public IEventJournal Journal => _journal!;

        public DateTimeOffset Now
        {
            get => _time.Now;
            set => _time.Now = value;
        }

        public TimeProvider Clock => _time;

        public bool LooksForMadeIds => false;

        public static async Task<PostgresLife> OpenAsync(PostgresServer server, bool ownsServer = false)
        {
            var life = new PostgresLife(server, await server.CreateDatabaseAsync(), ownsServer);
            await life.ReopenAsync();
            return life;
        }

        public async Task ReopenAsync()
        {
            if (_journal is not null)
            {
                await _journal.DisposeAsync();
            }

            _journal = await PostgresJournalTests.OpenAsync(database, _time);
        }

        public Task BreakAsync() => server.StopAsync();

        public Task MendAsync() => server.StartAgainAsync();

        public async ValueTask DisposeAsync()
        {
            await _journal!.DisposeAsync();
            if (ownsServer)
            {
                await server.DisposeAsync();
            }
        }
    }
}
