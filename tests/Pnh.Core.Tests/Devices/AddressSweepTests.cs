using Pnh.Core.Addresses;
using Pnh.Core.Diagnostics;
using Pnh.Core.Journal;
using Pnh.Core.Stores;
using Pnh.Core.Tests.Diagnostics;
using Pnh.Core.Users;
using Pnh.Storage.Registry;
using Pnh.Storage.Segments;
using Pnh.TestKit;
using Prometheus;

namespace Pnh.Core.Tests.Devices;

public sealed class AddressSweepTests : IAsyncDisposable
{
    private readonly TemporaryFolder _folder = new();
    private readonly FakeTimeProvider _time = new();
    private readonly SqliteDeviceStore _devices;
    private readonly SegmentJournal _journal;
    private readonly HubMetrics _metrics;
    private readonly CollectorRegistry _registry = Prometheus.Metrics.NewCustomRegistry();
    private int _marks;

    public AddressSweepTests()
    {
        _devices = SqliteDeviceStore.Open(_folder.FullPath, _time);
        _journal = SegmentJournal.Open(_folder.FullPath, TimeProvider.System, new JournalOptions());
        // Not by the clock that is moved by months: the second hand of the metrics would tick through all of it.
        _metrics = new HubMetrics(_registry, TimeProvider.System);
    }

    public async ValueTask DisposeAsync()
    {
        await _devices.DisposeAsync();
        await _journal.DisposeAsync();
        _metrics.Dispose();
        _folder.Dispose();
    }

    [Fact]
    public async Task Sweep_UnconfirmedFor270Days_NotedOnceCountedAndKept()
    {
        await using var sweep = NewSweep(removes: false);
        await PutAsync("ada", "old");
        _time.Advance(AddressSweep.StaleAfter - TimeSpan.FromHours(1));
        await PutAsync("ada", "new");

        await sweep.SweepAsync(CancellationToken.None);
        Assert.Empty(await FeedAsync());

        _time.Advance(TimeSpan.FromDays(1));
        await sweep.SweepAsync(CancellationToken.None);
        _time.Advance(TimeSpan.FromDays(1));
        await sweep.SweepAsync(CancellationToken.None);

        var note = Assert.Single(await FeedAsync());
        Assert.Equal(("ada", "old", "fcm", AddressSweep.Stale, "unconfirmed-270-days"), (note.User, note.Device, note.Channel, note.Health, note.Reason));
        Assert.Contains("pnh_addresses_stale 1", Scrape.Of(_registry).Lines);
        Assert.Equal(2, await AddressesAsync("ada"));
    }

    [Fact]
    public async Task Sweep_RemovesWhenAsked_OnlyTheStale()
    {
        await using var sweep = NewSweep(removes: true);
        await PutAsync("ada", "old");
        _time.Advance(AddressSweep.StaleAfter);
        await PutAsync("ada", "new");

        await sweep.SweepAsync(CancellationToken.None);

        Assert.Equal(1, await AddressesAsync("ada"));
        Assert.Equal(2, (await _devices.GetUserAsync(new UserKey("demo", "ada"), CancellationToken.None)).Devices.Count);
    }

    [Fact]
    public async Task Sweep_RemovesWhatWasStaleLongBefore_IsNotedOnce()
    {
        await using var sweep = NewSweep(removes: true);
        await PutAsync("ada", "old");
        _time.Advance(TimeSpan.FromDays(300));

        await sweep.SweepAsync(CancellationToken.None);
        await sweep.SweepAsync(CancellationToken.None);

        var note = Assert.Single(await FeedAsync());
        Assert.Equal(("ada", "old", AddressSweep.Stale), (note.User, note.Device, note.Health));
        Assert.Equal(0, await AddressesAsync("ada"));
    }

    [Fact]
    public async Task Sweep_ConfirmedAgain_NeverStale()
    {
        await using var sweep = NewSweep(removes: true);
        await PutAsync("ada", "phone");
        for (var i = 0; i < 4; i++)
        {
            _time.Advance(TimeSpan.FromDays(200));
            await PutAsync("ada", "phone");
        }

        await sweep.SweepAsync(CancellationToken.None);

        Assert.Equal(1, await AddressesAsync("ada"));
        Assert.Empty(await FeedAsync());
    }

    private AddressSweep NewSweep(bool removes) => new(_devices, _journal, ["demo"], _metrics, _time) { Removes = removes };

    private Task<Registration> PutAsync(string user, string device) => _devices.PutDeviceAsync(
        new UserKey("demo", user),
        new Device
        {
            Id = device,
            Platform = Platform.Android,
            Addresses = [new PushAddress("fcm", "token", $"{user}:{device}", "", _time.GetUtcNow())],
            RegisteredAt = _time.GetUtcNow(),
        },
        CancellationToken.None);

    private async Task<int> AddressesAsync(string user) =>
        (await _devices.GetUserAsync(new UserKey("demo", user), CancellationToken.None)).Devices.Sum(device => device.Addresses.Count);

    /// <summary>The notes so far: everything before one that is written now, as notes are written in order.</summary>
    private async Task<List<AddressNote>> FeedAsync()
    {
        var mark = $"mark-{++_marks}";
        var start = TimeProvider.System.GetTimestamp();
        _journal.NoteAddress(new AddressNote("demo", mark, "", "", "", null, _time.GetUtcNow()));
        while (true)
        {
            var page = await _journal.ReadFeedAsync("demo", null, 100, CancellationToken.None);
            var notes = page.Entries.Where(entry => entry.Address is not null).Select(entry => entry.Address!.Value).ToList();
            if (notes.Exists(note => note.User == mark))
            {
                return notes.FindAll(note => !note.User.StartsWith("mark", StringComparison.Ordinal));
            }

            Assert.True(TimeProvider.System.GetElapsedTime(start) < TimeSpan.FromSeconds(20), "the note did not reach the feed");
            await Task.Delay(5);
        }
    }
}
