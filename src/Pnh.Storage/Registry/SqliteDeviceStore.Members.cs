using System.Diagnostics.CodeAnalysis;
using System.Runtime.CompilerServices;
using Pnh.Core.Stores;
using Pnh.Core.Users;
using Pnh.Storage.Sqlite;

namespace Pnh.Storage.Registry;

/// <summary>Topics and their members.</summary>
public sealed partial class SqliteDeviceStore
{
    /// <summary>Topics of fewer than 256 members.</summary>
    /// <inheritdoc/>
    public bool TryGetMembers(TopicKey topic, [NotNullWhen(true)] out TopicMembers? members) => _topics.TryGet(topic, out members);

    /// <inheritdoc/>
    public long MembersVersion => _topics.Writes;

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

    /// <summary>Members in the order of their UTF-8 bytes. Read page by page: a change made meanwhile is seen or not, nothing stands twice.</summary>
    /// <inheritdoc/>
    public async IAsyncEnumerable<string> GetMembersAsync(string app, string topic, [EnumeratorCancellation] CancellationToken cancellationToken)
    {
        var after = string.Empty;
        MemberPage page;
        do
        {
            page = await GetMemberPageAsync(new TopicKey(app, topic), after, PageRows, cancellationToken).ConfigureAwait(false);
            foreach (var member in page.Users)
            {
                yield return after = member;
            }
        }
        while (!page.IsLast);
    }

    /// <summary>The first page is kept in memory when it is all.</summary>
    /// <inheritdoc/>
    public async ValueTask<MemberPage> GetMemberPageAsync(TopicKey topic, string after, int most, CancellationToken cancellationToken)
    {
        var ticket = _topics.StartRead(topic);
        var users = await Engine.Readers.ReadAsync(
            (topic, after, most), static (database, at) => SqliteMembers.Page(database, at.topic.App, at.topic.Topic, at.after, at.most), cancellationToken);
        var page = new MemberPage(users, users.Count < most);
        if (page.IsLast && after.Length == 0)
        {
            _topics.Fill(topic, new TopicMembers(users), ticket);
        }

        return page;
    }

    /// <inheritdoc/>
    public async ValueTask<long> CountMembersAsync(TopicKey topic, CancellationToken cancellationToken) =>
        await Engine.Readers.ReadAsync(topic, static (database, of) => SqliteMembers.CountOf(database, of), cancellationToken).ConfigureAwait(false);

    private Task<TResult> WriteMemberAsync<TResult>(TopicKey topic, Func<SqliteDatabase, TResult> write, CancellationToken cancellationToken)
    {
        cancellationToken.ThrowIfCancellationRequested();
        return Engine.Writer.WriteAsync(write, () => _topics.Forget(topic));
    }
}
