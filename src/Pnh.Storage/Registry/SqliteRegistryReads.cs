using Pnh.Core.Stores;
using Pnh.Core.Users;
using Pnh.Storage.Sqlite;

namespace Pnh.Storage.Registry;

/// <summary>Reads of <c>registry.db</c>.</summary>
internal sealed class SqliteRegistryReads(SqliteEngine engine, SqliteGoneUsers gone, TextPool texts) : IRegistryReads
{
    public Task<UserSnapshot[]> ReadUsersAsync(string app, IReadOnlyList<string> users, CancellationToken cancellationToken) => engine.Readers.ReadAsync(
        (app, users, texts, gone), static (database, at) => at.users.Select(user => SqliteDeviceReads.User(database, at.gone, at.texts, new UserKey(at.app, user))).ToArray(), cancellationToken);

    public Task<List<string>> ReadMembersAsync(TopicKey topic, string after, int most, CancellationToken cancellationToken) => engine.Readers.ReadAsync(
        (topic, after, most), static (database, at) => SqliteMembers.Page(database, at.topic.App, at.topic.Topic, at.after, at.most), cancellationToken);

    public Task<List<OwnedDevice>> ReadDevicesAsync(string app, string user, string device, int most, CancellationToken cancellationToken) => engine.Readers.ReadAsync(
        (app, user, device, most, texts), static (database, at) => SqliteDeviceReads.Page(database, at.texts, at.app, at.user, at.device, at.most), cancellationToken);
}
