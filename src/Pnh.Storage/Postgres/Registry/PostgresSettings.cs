using Npgsql;
using Pnh.Core.Users;

namespace Pnh.Storage.Postgres.Registry;

/// <summary>User settings as one row.</summary>
internal static class PostgresSettings
{
    /// <summary>Of users of an app; the user is the last column.</summary>
    public const string OfUsers = """
        SELECT muted_classes, muted_topics, drops, quiet_from, quiet_to, quiet_zone, do_not_disturb_until, user_ FROM pnh.settings WHERE app = $1 AND user_ = ANY($2)
        """;

    private const string Upsert = """
        INSERT INTO pnh.settings(app, user_, muted_classes, muted_topics, drops, quiet_from, quiet_to, quiet_zone, do_not_disturb_until) VALUES($1, $2, $3, $4, $5, $6, $7, $8, $9)
        ON CONFLICT(app, user_) DO UPDATE SET muted_classes = excluded.muted_classes, muted_topics = excluded.muted_topics, drops = excluded.drops, quiet_from = excluded.quiet_from,
            quiet_to = excluded.quiet_to, quiet_zone = excluded.quiet_zone, do_not_disturb_until = excluded.do_not_disturb_until
        """;

    public static void Put(NpgsqlBatch batch, UserKey user, UserSettings settings) => batch.Add(Upsert)
        .With(user.App).With(user.User).With(settings.MutedClasses).With(settings.MutedTopics).With(settings.Mode == QuietMode.Drop)
        .With(settings.QuietHours?.From.Ticks).With(settings.QuietHours?.To.Ticks).With(settings.QuietHours?.TimeZone).With(settings.DoNotDisturbUntil);

    /// <summary>By user; who has none stored is not in it.</summary>
    public static async Task<Dictionary<string, UserSettings>> ReadAsync(NpgsqlDataReader rows, CancellationToken cancellationToken)
    {
        var found = new Dictionary<string, UserSettings>(StringComparer.Ordinal);
        while (await rows.ReadAsync(cancellationToken).ConfigureAwait(false))
        {
            found.Add(rows.GetString(7), new UserSettings
            {
                MutedClasses = rows.Texts(0),
                MutedTopics = rows.Texts(1),
                Mode = rows.GetBoolean(2) ? QuietMode.Drop : QuietMode.Hold,
                QuietHours = rows.IsNull(3) ? null : new QuietHours(new TimeOnly(rows.GetInt64(3)), new TimeOnly(rows.GetInt64(4)), rows.GetString(5)),
                DoNotDisturbUntil = rows.TimeOrNull(6),
            });
        }

        return found;
    }
}
