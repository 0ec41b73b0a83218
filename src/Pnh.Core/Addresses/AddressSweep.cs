using Pnh.Core.Diagnostics;
using Pnh.Core.Journal;
using Pnh.Core.Stores;
using Pnh.Core.Users;

namespace Pnh.Core.Addresses;

/// <summary>
/// Looks through the registry once a day for push addresses that no app has confirmed for 270 days: FCM lets tokens expire then, and a device that is
/// silent for so long is gone. Each goes into the feed as <c>stale</c> when it becomes so, or when it is removed; all of them are counted. They are removed only when that is asked
/// for. Reads in the background, streamed; starts with <see cref="Start"/>.
/// </summary>
public sealed class AddressSweep : IAsyncDisposable
{
    /// <summary>Google's number: "Best practices for FCM registration token management".</summary>
    public static readonly TimeSpan StaleAfter = TimeSpan.FromDays(270);

    /// <summary>The feed's word.</summary>
    public const string Stale = "stale";

    /// <summary>Between two looks.</summary>
    public static readonly TimeSpan Period = TimeSpan.FromDays(1);

    private const string Reason = "unconfirmed-270-days";

    // A hub that was down for a week still reports what became stale meanwhile; one restarted daily repeats a few, and the feed allows that.
    private static readonly TimeSpan LooksBack = TimeSpan.FromDays(7);

    // Not beside everything else that happens at start.
    private static readonly TimeSpan FirstAfter = TimeSpan.FromMinutes(10);

    private readonly IDeviceStore _devices;
    private readonly IEventJournal _journal;
    private readonly IReadOnlyList<string> _apps;
    private readonly TimeProvider _time;
    private readonly CancellationTokenSource _stopping = new();
    private readonly IDisposable _registration;
    private Task _running = Task.CompletedTask;
    private DateTimeOffset? _swept;
    private long _stale;

    /// <summary>For these apps; does nothing yet.</summary>
    public AddressSweep(IDeviceStore devices, IEventJournal journal, IEnumerable<string> apps, HubMetrics metrics, TimeProvider time)
    {
        ArgumentNullException.ThrowIfNull(metrics);
        _devices = devices;
        _journal = journal;
        _apps = [.. apps];
        _time = time;
        _registration = metrics.RegisterAddresses(() => Volatile.Read(ref _stale));
    }

    /// <summary>Stale addresses are taken off their devices.</summary>
    public bool Removes { get; init; }

    /// <summary>True for an address that its app has not confirmed for <see cref="StaleAfter"/>.</summary>
    public static bool IsStale(PushAddress address, DateTimeOffset now) => now - address.RegisteredAt >= StaleAfter;

    /// <summary>Begins to look, in the background.</summary>
    public void Start() => _running = RunAsync();

    /// <summary>Stops in the middle of a look if need be.</summary>
    public async ValueTask DisposeAsync()
    {
        if (_stopping.IsCancellationRequested)
        {
            return;
        }

        await _stopping.CancelAsync().ConfigureAwait(false);
        await _running.ConfigureAwait(false);
        _registration.Dispose();
        _stopping.Dispose();
    }

    /// <summary>One look through everything.</summary>
    internal async Task SweepAsync(CancellationToken cancellationToken)
    {
        var now = _time.GetUtcNow();
        var since = _swept ?? now - LooksBack;
        long stale = 0;
        foreach (var app in _apps)
        {
            await foreach (var owned in _devices.ExportAsync(app, cancellationToken).ConfigureAwait(false))
            {
                foreach (var address in owned.Device.Addresses)
                {
                    if (!IsStale(address, now))
                    {
                        continue;
                    }

                    stale++;
                    // What is removed is never met again, so it is logged however old it is.
                    if (Removes
                        ? await _devices.RemoveAddressAsync(new UserKey(app, owned.User), owned.Device.Id, address, address.RegisteredAt, Stale, cancellationToken).ConfigureAwait(false)
                        : address.RegisteredAt + StaleAfter > since)
                    {
                        _journal.NoteAddress(new(app, owned.User, owned.Device.Id, address.Channel, Stale, Reason, now));
                    }
                }
            }
        }

        Volatile.Write(ref _stale, stale);
        _swept = now;
    }

    private async Task RunAsync()
    {
        try
        {
            await Task.Delay(FirstAfter, _time, _stopping.Token).ConfigureAwait(false);
            while (true)
            {
                try
                {
                    await SweepAsync(_stopping.Token).ConfigureAwait(false);
                }
                catch (StoreUnavailableException)
                {
                    // Tomorrow again: what became stale meanwhile is reported then.
                }

                await Task.Delay(Period, _time, _stopping.Token).ConfigureAwait(false);
            }
        }
        catch (OperationCanceledException)
        {
            // Stopped.
        }
    }
}
