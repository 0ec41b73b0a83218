using Pnh.Core.Stores;
using Pnh.Core.Users;

namespace Pnh.Api.Tests.Endpoints;

/// <summary>A registry that reads what a test gives it, and writes nothing.</summary>
internal sealed class GivenDevices : IDeviceStore
{
    public UserSnapshot User { get; init; } = UserSnapshot.Empty;

    public Func<CancellationToken, IAsyncEnumerable<string>> Members { get; init; } = static _ => AsyncEnumerable.Empty<string>();

    public Func<CancellationToken, IAsyncEnumerable<OwnedDevice>> Export { get; init; } = static _ => AsyncEnumerable.Empty<OwnedDevice>();

    public ValueTask<UserSnapshot> GetUserAsync(UserKey user, CancellationToken cancellationToken) => ValueTask.FromResult(User);

    public IAsyncEnumerable<string> GetMembersAsync(string app, string topic, CancellationToken cancellationToken) => Members(cancellationToken);

    public ValueTask<MemberPage> GetMemberPageAsync(TopicKey topic, string after, int most, CancellationToken cancellationToken) =>
        throw new NotSupportedException();

    public ValueTask<long> CountMembersAsync(TopicKey topic, CancellationToken cancellationToken) => throw new NotSupportedException();

    public IAsyncEnumerable<OwnedDevice> ExportAsync(string app, CancellationToken cancellationToken) => Export(cancellationToken);

    public Task<Registration> PutDeviceAsync(UserKey user, Device device, int mostDevices, AddressMoves? moves, CancellationToken cancellationToken) => throw new NotSupportedException();

    public Task<bool> DeleteDeviceAsync(UserKey user, string device, CancellationToken cancellationToken) => throw new NotSupportedException();

    public Task<RemovedUser> DeleteUserAsync(UserKey user, CancellationToken cancellationToken) => throw new NotSupportedException();

    public Task<bool> RemoveAddressAsync(UserKey user, string device, PushAddress address, DateTimeOffset deadSince, string? reason, CancellationToken cancellationToken) =>
        throw new NotSupportedException();

    public Task PutSettingsAsync(UserKey user, UserSettings settings, CancellationToken cancellationToken) => throw new NotSupportedException();

    public Task<AddMemberResult> AddMemberAsync(string app, string topic, string user, CancellationToken cancellationToken) => throw new NotSupportedException();

    public ValueTask<UserTopics> FindTopicsAsync(UserKey user, CancellationToken cancellationToken) => throw new NotSupportedException();

    public bool HasMembers => throw new NotSupportedException();

    public Task<bool> RemoveMemberAsync(string app, string topic, string user, CancellationToken cancellationToken) => throw new NotSupportedException();
}
