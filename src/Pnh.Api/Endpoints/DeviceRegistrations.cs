using Pnh.Core.Devices;
using Pnh.Core.Journal;

namespace Pnh.Api.Endpoints;

/// <summary>
/// Writes registrations and tells the feed whose addresses they took over. The registry is durable first: a crash in between loses the note, never
/// the registration. Thread-safe.
/// </summary>
internal sealed class DeviceRegistrations
{
    private const string Moved = "moved";
    private const string Reason = "registered-elsewhere";
    private readonly IDeviceStore _devices;
    private readonly IEventJournal _journal;
    private readonly TimeProvider _time;

    public DeviceRegistrations(IDeviceStore devices, IEventJournal journal, TimeProvider time)
    {
        _devices = devices;
        _journal = journal;
        _time = time;
    }

    /// <summary>As <see cref="IDeviceStore.PutDeviceAsync"/>.</summary>
    public async Task<PutDeviceResult> PutAsync(UserKey user, Device device, int mostDevices, CancellationToken cancellationToken)
    {
        var registration = await _devices.PutDeviceAsync(user, device, mostDevices, cancellationToken);
        foreach (var loser in registration.Moved)
        {
            _journal.NoteAddress(new AddressNote(user.App, loser.User, loser.Device, loser.Channel, Moved, Reason, _time.GetUtcNow()));
        }

        return registration.Result;
    }
}
