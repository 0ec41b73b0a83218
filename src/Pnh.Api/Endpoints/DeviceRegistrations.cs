using Pnh.Core.Events;
using Pnh.Core.Journal;
using Pnh.Core.Stores;
using Pnh.Core.Users;

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
    private readonly AddressMoves _moves;
    private readonly TimeProvider _time;

    public DeviceRegistrations(IDeviceStore devices, IEventJournal journal, AddressMoves moves, TimeProvider time)
    {
        _devices = devices;
        _moves = moves;
        _journal = journal;
        _time = time;
    }

    /// <summary>By a key of the app's back-end, which may move any address to anybody.</summary>
    public Task<Registration> PutAsync(UserKey user, Device device, CancellationToken cancellationToken) =>
        PutAsync(user, device, Limits.DevicesPerUser, moves: null, cancellationToken);

    /// <summary>By a user's own client token: fewer devices, and addresses of others only so many an hour.</summary>
    public Task<Registration> PutByClientAsync(UserKey user, Device device, CancellationToken cancellationToken) =>
        PutAsync(user, device, Limits.DevicesByClient, _moves, cancellationToken);

    private async Task<Registration> PutAsync(UserKey user, Device device, int mostDevices, AddressMoves? moves, CancellationToken cancellationToken)
    {
        var registration = await _devices.PutDeviceAsync(user, device, mostDevices, moves, cancellationToken);
        foreach (var loser in registration.Moved)
        {
            _journal.NoteAddress(new AddressNote(user.App, loser.User, loser.Device, loser.Channel, Moved, Reason, _time.GetUtcNow(), user.User));
        }

        return registration;
    }
}
