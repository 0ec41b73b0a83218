using System.Globalization;
using System.Text;
using Microsoft.Extensions.Logging.Abstractions;
using Pnh.Core.Diagnostics;
using Pnh.Core.Events;
using Pnh.Core.Hubs;
using Pnh.Core.Journal;
using Pnh.Core.Plans;
using Pnh.Core.Sessions;
using Pnh.Storage.Registry;

namespace Pnh.Benchmarks;

/// <summary>The real hub with the real registry, over links that do nothing. Time stands on it: nobody ticks its wheels.</summary>
internal sealed class BenchHub : IDisposable
{
    public const string App = "bench";
    private readonly string _folder = Directory.CreateTempSubdirectory("pnh-benchmarks-").FullName;
    private readonly SqliteDeviceStore _store;
    private readonly HubMetrics _metrics;
    private readonly EventReader _reader = new(ClassPolicies.Default, [ChannelNames.WebSocket]);

    public BenchHub(IEventJournal? journal = null)
    {
        _store = SqliteDeviceStore.Open(_folder, TimeProvider.System);
        _metrics = new HubMetrics(Prometheus.Metrics.NewCustomRegistry(), TimeProvider.System, [App]);
        Hub = new Hub(
            new Planner(ClassPolicies.Default, []), journal ?? new NullJournal(), _store, _reader, _metrics, TimeProvider.System, NullLogger<Hub>.Instance, new HubOptions());
    }

    public Hub Hub { get; }

    public List<SessionKey> Sessions { get; } = [];

    public static string User(int number) => string.Create(CultureInfo.InvariantCulture, $"user-{number:D6}");

    /// <summary>So many users with one active session each; <paramref name="topic"/> names the topic of each, null = joins none.</summary>
    public BenchHub Open(int sessions, Func<int, string>? topic = null)
    {
        for (var i = 0; i < sessions; i++)
        {
            var key = new SessionKey(App, User(i), "tab-1", Guid.NewGuid().ToString("N"));
            Open(key, new NullLink());
            if (topic is not null)
            {
                Hub.Router.Joined(key, [topic(i)]);
            }

            Sessions.Add(key);
        }

        return this;
    }

    /// <summary>One session more, which the caller keeps.</summary>
    public void Open(SessionKey key, NullLink link) =>
        Wait(OpenAsync(key, link));

    private async ValueTask OpenAsync(SessionKey key, NullLink link)
    {
        if (!await Hub.Router.OpenedAsync(new SessionOpened(key, SessionState.Active, link, TimeProvider.System.GetUtcNow()), CancellationToken.None))
        {
            throw new InvalidOperationException("the user has too many sessions");
        }
    }

    /// <summary>An event as it would be read from a POST now.</summary>
    public Event Parse(string json) =>
        _reader.Read(Encoding.UTF8.GetBytes(json), new EventOrigin(App, TimeProvider.System.GetUtcNow(), TimeProvider.System.GetTimestamp()), [])!;

    public void Accept(Event accepted)
    {
        var accepting = Hub.Acceptor.AcceptAsync(accepted);
        var result = accepting.IsCompleted ? accepting.Result : accepting.AsTask().GetAwaiter().GetResult();
        if (result.Status != AcceptStatus.Accepted)
        {
            throw new InvalidOperationException($"The hub answered {result.Status}.");
        }
    }

    public void Dispose()
    {
        Wait(Hub.DisposeAsync());
        _metrics.Dispose();
        Wait(_store.DisposeAsync());
        Directory.Delete(_folder, recursive: true);
    }

    private static void Wait(ValueTask task)
    {
        if (!task.IsCompleted)
        {
            task.AsTask().GetAwaiter().GetResult();
        }
    }
}
