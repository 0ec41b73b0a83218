using Pnh.Core.Stores;
using Pnh.Core.Users;

namespace Pnh.Storage.Registry;

/// <summary>How an engine reads its registry; <see cref="RegistryCache"/> keeps what it read. Thread-safe. Faults are <see cref="StoreUnavailableException"/>.</summary>
internal interface IRegistryReads
{
    /// <summary>The app's users, in this order; an unknown one is <see cref="UserSnapshot.Empty"/>, or <see cref="UserSnapshot.Gone"/>.</summary>
    Task<UserSnapshot[]> ReadUsersAsync(string app, IReadOnlyList<string> users, CancellationToken cancellationToken);

    /// <summary>The topic's next members after one (empty = from the first), in the order of their UTF-8 bytes.</summary>
    Task<List<string>> ReadMembersAsync(TopicKey topic, string after, int most, CancellationToken cancellationToken);

    /// <summary>The app's next devices after (user, device), in the order of their UTF-8 bytes.</summary>
    Task<List<OwnedDevice>> ReadDevicesAsync(string app, string user, string device, int most, CancellationToken cancellationToken);
}
