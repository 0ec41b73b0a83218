using System.Diagnostics.CodeAnalysis;
using Pnh.Core.Stores;
using Pnh.Core.Users;
using Pnh.Storage.Sqlite;

namespace Pnh.Storage.Registry;

/// <summary>Topics and their members.</summary>
public sealed partial class SqliteDeviceStore
{
    /// <inheritdoc/>
    public bool TryGetMembers(TopicKey topic, [NotNullWhen(true)] out TopicMembers? members) => _cache.TryGetMembers(topic, out members);

    /// <inheritdoc/>
    public long MembersVersion => _cache.MembersVersion;

    /// <inheritdoc/>
    public Task<AddMemberResult> AddMemberAsync(string app, string topic, string user, CancellationToken cancellationToken)
    {
        // Before it is written: a session that opens meanwhile looks in vain once, and never misses a member.
        _hasMembers = true;
        return WriteMemberAsync(new TopicKey(app, topic), database => SqliteMembers.Add(database, app, topic, user), cancellationToken);
    }

    /// <inheritdoc/>
    public Task<bool> RemoveMemberAsync(string app, string topic, string user, CancellationToken cancellationToken) =>
        WriteMemberAsync(new TopicKey(app, topic), database => SqliteMembers.Remove(database, app, topic, user), cancellationToken);

    /// <inheritdoc/>
    public bool HasMembers => _hasMembers;

    /// <inheritdoc/>
    public async ValueTask<UserTopics> FindTopicsAsync(UserKey user, CancellationToken cancellationToken) => _hasMembers
        ? await Engine.Readers.ReadAsync(user, static (database, of) => SqliteMembers.TopicsOf(database, of), cancellationToken).ConfigureAwait(false)
        : UserTopics.None;

    /// <inheritdoc/>
    public IAsyncEnumerable<string> GetMembersAsync(string app, string topic, CancellationToken cancellationToken) => _cache.GetMembersAsync(new TopicKey(app, topic), cancellationToken);

    /// <inheritdoc/>
    public ValueTask<MemberPage> GetMemberPageAsync(TopicKey topic, string after, int most, CancellationToken cancellationToken) =>
        _cache.GetMemberPageAsync(topic, after, most, cancellationToken);

    /// <inheritdoc/>
    public async ValueTask<long> CountMembersAsync(TopicKey topic, CancellationToken cancellationToken) =>
        await Engine.Readers.ReadAsync(topic, static (database, of) => SqliteMembers.CountOf(database, of), cancellationToken).ConfigureAwait(false);

    private Task<TResult> WriteMemberAsync<TResult>(TopicKey topic, Func<SqliteDatabase, TResult> write, CancellationToken cancellationToken)
    {
        cancellationToken.ThrowIfCancellationRequested();
        return Engine.Writer.WriteAsync(write, () => _cache.Forget(topic));
    }
}
