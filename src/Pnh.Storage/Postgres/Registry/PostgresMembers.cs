using Npgsql;
using Pnh.Core.Events;
using Pnh.Core.Stores;
using Pnh.Core.Users;
using Pnh.Storage.Registry;

namespace Pnh.Storage.Postgres.Registry;

/// <summary>Topic membership as rows.</summary>
internal static class PostgresMembers
{
    /// <summary>In the order of their UTF-8 bytes.</summary>
    public const string TopicsOf = "SELECT topic FROM pnh.members WHERE app = $1 AND user_ = $2 ORDER BY topic";

    /// <summary>A user's topics, and what he wants of them.</summary>
    public static Task<UserTopics> FindTopicsAsync(PostgresDatabase database, UserKey user, CancellationToken cancellationToken) => database.ReadAsync(
        batch =>
        {
            batch.Add(TopicsOf).With(user.App).With(user.User);
            batch.Add(PostgresSettings.OfUsers).With(user.App).With([user.User]);
        },
        async rows =>
        {
            var topics = await PostgresDatabase.TextsAsync(rows, cancellationToken).ConfigureAwait(false);
            await rows.NextResultAsync(cancellationToken).ConfigureAwait(false);
            var settings = await PostgresSettings.ReadAsync(rows, cancellationToken).ConfigureAwait(false);
            return topics.Count == 0 ? UserTopics.None : new UserTopics(topics, settings.GetValueOrDefault(user.User) ?? UserSettings.Default);
        },
        cancellationToken);

    /// <summary>One number.</summary>
    public static Task<long> CountAsync(PostgresDatabase database, TopicKey topic, CancellationToken cancellationToken) => database.ReadAsync(
        batch => batch.Add("SELECT count(*) FROM pnh.members WHERE app = $1 AND topic = $2").With(topic.App).With(topic.Topic),
        async rows => await rows.ReadAsync(cancellationToken).ConfigureAwait(false) ? rows.GetInt64(0) : 0,
        cancellationToken);

    /// <summary>Whether any topic has a member.</summary>
    public static Task<bool> HasAnyAsync(PostgresDatabase database, CancellationToken cancellationToken) => database.ReadAsync(
        static batch => batch.Add("SELECT 1 FROM pnh.members LIMIT 1"), async rows => await rows.ReadAsync(cancellationToken).ConfigureAwait(false), cancellationToken);
}

/// <summary>A new member.</summary>
internal sealed class AddMemberWrite(TopicKey topic, string user, RegistryCache cache) : PostgresWrite<AddMemberResult>
{
    private AddMemberResult _result;

    public override IEnumerable<(string Kind, string Of)> Keys => [PostgresDeviceStore.KeyOf(new UserKey(topic.App, user))];

    public override int Ask(NpgsqlBatch batch)
    {
        batch.Add("""
            SELECT EXISTS(SELECT 1 FROM pnh.members WHERE app = $1 AND topic = $2 AND user_ = $3), (SELECT count(*) FROM pnh.members WHERE app = $1 AND user_ = $3)
            """).With(topic.App).With(topic.Topic).With(user);
        return 1;
    }

    public override async Task ReadAsync(int index, NpgsqlDataReader rows, CancellationToken cancellationToken)
    {
        await rows.ReadAsync(cancellationToken).ConfigureAwait(false);
        _result = rows.GetBoolean(0) ? AddMemberResult.AlreadyThere : rows.GetInt64(1) >= Limits.TopicsPerUser ? AddMemberResult.TooManyTopics : AddMemberResult.Added;
    }

    public override void Write(NpgsqlBatch batch)
    {
        if (_result == AddMemberResult.Added)
        {
            batch.Add("INSERT INTO pnh.members(app, topic, user_) VALUES($1, $2, $3)").With(topic.App).With(topic.Topic).With(user);
        }
    }

    protected override AddMemberResult Written(IReadOnlyList<int> changed)
    {
        cache.Forget(topic);
        return _result;
    }
}
