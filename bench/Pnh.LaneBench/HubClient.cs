using System.Collections.Concurrent;
using System.Text;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Logging.Abstractions;
using Pnh.Benchmarks;
using Pnh.Core.Diagnostics;
using Pnh.Core.Events;
using Pnh.Core.Hubs;
using Pnh.Core.Journal;
using Pnh.Core.Lanes;
using Pnh.Core.Plans;
using Pnh.Core.Stores;
using Pnh.Core.Users;
using Pnh.Storage.Registry;
using Pnh.Storage.Segments;

namespace Pnh.LaneBench;

/// <summary>
/// The whole path of a delivery: an event to 64 users is accepted, journaled (to a disk that costs nothing) and planned; each delivery goes through its
/// <see cref="DeliveryLane"/>, where its address is looked up, the sender, Polly, pool and connection, and its answer is settled in its shard and noted in
/// the journal. A push counts when its event is finished there.
/// </summary>
internal sealed class HubClient : IClient
{
    /// <summary>Events at once: the lane always has more than its 100 requests in flight, as in a campaign.</summary>
    private const int Publishers = 16;

    private readonly string _folder = Directory.CreateTempSubdirectory("pnh-lanebench-").FullName;
    private readonly ServiceProvider _services;
    private readonly SqliteDeviceStore _store;
    private readonly HubMetrics _metrics = new(Prometheus.Metrics.NewCustomRegistry(), TimeProvider.System, ["demo"]);
    private readonly WatchedJournal _journal = new(SegmentJournal.Open(new NullFolder(), TimeProvider.System, new JournalOptions { MaxBytes = 256 * 1024 * 1024 }));
    private readonly EventReader _reader = new(ClassPolicies.Default, ["apns"]);
    private readonly byte[] _body;
    private readonly Hub _hub;

    private HubClient(Uri address, bool isDirect, string certificateFile)
    {
        _services = BenchChannels.Build(address, isDirect, certificateFile);
        _store = SqliteDeviceStore.Open(_folder, TimeProvider.System);
        _hub = new Hub(
            new Planner(ClassPolicies.Default, [BenchChannels.Apns(_services)]), _journal, _store, _reader, _metrics, TimeProvider.System, NullLogger<Hub>.Instance, new HubOptions());
        var users = string.Join(',', Push.Addresses.Select(static (_, number) => $"\"user-{number}\""));
        _body = Encoding.UTF8.GetBytes(
            $$"""{"to":{"users":[{{users}}]},"class":"message","channels":["apns"],"notification":{"title":"Grace","body":"{{new string('b', 120)}}"} }""");
    }

    public static async Task<HubClient> StartAsync(Uri address, bool isDirect, string certificateFile)
    {
        var client = new HubClient(address, isDirect, certificateFile);
        for (var number = 0; number < Push.Addresses.Length; number++)
        {
            var push = new PushAddress("apns", "token", Push.Addresses[number], "production/" + Push.Topic, default);
            var phone = new Device { Id = "phone", Platform = Platform.Ios, Addresses = [push], RegisteredAt = TimeProvider.System.GetUtcNow() };
            await client._store.PutDeviceAsync(new UserKey("demo", $"user-{number}"), phone, CancellationToken.None);
        }

        await client._hub.StartAsync(CancellationToken.None);
        return client;
    }

    public async Task<long> PushUntilAsync(long end, int worker)
    {
        long count = 0;
        while (worker < Publishers && TimeProvider.System.GetTimestamp() < end)
        {
            var accepted = _reader.Read(_body, new EventOrigin("demo", TimeProvider.System.GetUtcNow(), TimeProvider.System.GetTimestamp()), [])!;
            var finished = _journal.FinishedAsync(accepted.Id);
            var answer = await _hub.Acceptor.AcceptAsync(accepted);
            if (answer.Status != AcceptStatus.Accepted)
            {
                throw new InvalidOperationException($"The hub answered {answer.Status}.");
            }

            await finished;
            count += Push.Addresses.Length;
        }

        return count;
    }

    public async ValueTask DisposeAsync()
    {
        await _hub.DisposeAsync();
        await _services.DisposeAsync();
        await _journal.DisposeAsync();
        _metrics.Dispose();
        await _store.DisposeAsync();
        Directory.Delete(_folder, recursive: true);
    }

    /// <summary>The embedded journal, and who waits for an event's end there.</summary>
    private sealed class WatchedJournal(SegmentJournal journal) : IEventJournal, IAsyncDisposable
    {
        private readonly ConcurrentDictionary<string, TaskCompletionSource> _waiting = new(StringComparer.Ordinal);

        public Task FinishedAsync(string id) =>
            (_waiting[id] = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously)).Task;

        public ValueTask<AppendResult> AppendAsync(Event accepted, CancellationToken cancellationToken) => journal.AppendAsync(accepted, cancellationToken);

        public void Note(in Milestone milestone)
        {
            if (milestone is { Kind: MilestoneKind.Settled, State: not "accepted" } && _waiting.TryGetValue(milestone.Event, out var waiting))
            {
                waiting.TrySetException(new InvalidOperationException($"{milestone.State} {milestone.Reason}"));
            }

            journal.Note(milestone);
        }

        public ValueTask FlushAsync(CancellationToken cancellationToken) => journal.FlushAsync(cancellationToken);

        public void Finish(string app, string id)
        {
            journal.Finish(app, id);
            if (_waiting.TryRemove(id, out var waiting))
            {
                waiting.TrySetResult();
            }
        }

        public void NoteAddress(in AddressNote note) => journal.NoteAddress(note);

        public ValueTask<WithdrawResult> WithdrawAsync(
            string app, string id, string? user, string reason, DateTimeOffset at, CancellationToken cancellationToken) =>
            journal.WithdrawAsync(app, id, user, reason, at, cancellationToken);

        public ValueTask<EventHistory?> ReadAsync(string app, string id, CancellationToken cancellationToken) => journal.ReadAsync(app, id, cancellationToken);

        public ValueTask<StoredEvent?> FindAsync(string app, string id, CancellationToken cancellationToken) => journal.FindAsync(app, id, cancellationToken);

        public ValueTask<UserEventPage> ReadUserAsync(string app, string user, string? before, int limit, CancellationToken cancellationToken) =>
            journal.ReadUserAsync(app, user, before, limit, cancellationToken);

        public ValueTask<UserEventPage> ReadFailuresAsync(string app, string? before, int limit, CancellationToken cancellationToken) =>
            journal.ReadFailuresAsync(app, before, limit, cancellationToken);

        public ValueTask<UserEventPage> ReadRecentAsync(string app, string? before, int limit, CancellationToken cancellationToken) =>
            journal.ReadRecentAsync(app, before, limit, cancellationToken);

        public ValueTask<FeedPage> ReadFeedAsync(string app, string? after, int limit, CancellationToken cancellationToken) =>
            journal.ReadFeedAsync(app, after, limit, cancellationToken);

        public bool Rests(string app, string id, string user, string device) => journal.Rests(app, id, user, device);

        public IReadOnlyDictionary<(string App, EventClass Class), int> PendingMail => journal.PendingMail;

        public int CountMail(string app, string user, string device) => journal.CountMail(app, user, device);

        public ValueTask<IReadOnlyList<RestingEvent>> ReadMailAsync(string app, string user, string device, Collapse? of, CancellationToken cancellationToken) =>
            journal.ReadMailAsync(app, user, device, of, cancellationToken);

        public bool HasMail(string app, string user, string device, in Collapse of) => journal.HasMail(app, user, device, of);

        public ValueTask<IReadOnlyList<UnfinishedEvent>> ReadOverAsync(DateTimeOffset until, int most, CancellationToken cancellationToken) =>
            journal.ReadOverAsync(until, most, cancellationToken);

        public IAsyncEnumerable<UnfinishedEvent> RecoverAsync(CancellationToken cancellationToken) => journal.RecoverAsync(cancellationToken);

        public ValueTask DisposeAsync() => journal.DisposeAsync();
    }
}
