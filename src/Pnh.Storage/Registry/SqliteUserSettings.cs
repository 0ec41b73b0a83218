using System.Buffers;
using System.Text;
using System.Text.Json;
using Pnh.Core.Users;
using Pnh.Storage.Sqlite;

namespace Pnh.Storage.Registry;

/// <summary>User settings as one row; lists as JSON arrays of strings. The mode stands in <c>quiet_from</c>, where builds that do not know it pass over it.</summary>
internal static class SqliteUserSettings
{
    private const string Upsert = """
        INSERT OR REPLACE INTO settings(app, user, muted_classes, muted_topics, quiet_from, quiet_to, quiet_zone, do_not_disturb_until)
        VALUES(?, ?, ?, ?, ?, ?, ?, ?)
        """;

    private const string Select = """
        SELECT muted_classes, muted_topics, quiet_from, quiet_to, quiet_zone, do_not_disturb_until FROM settings WHERE app = ? AND user = ?
        """;

    private const string Remove = "DELETE FROM settings WHERE app = ? AND user = ?";

    private const long NoTime = -1;

    // A time of the day is a whole minute: one tick more says that pushes are dropped, as does one less where there is no time.
    private const long DropsWithoutTime = NoTime - 1;
    private const long DropMark = 1;

    public static bool Put(SqliteDatabase database, UserKey user, UserSettings settings)
    {
        var quiet = settings.QuietHours;
        database.Statement(Upsert)
            .Bind(1, user.App).Bind(2, user.User).Bind(3, Encode(settings.MutedClasses)).Bind(4, Encode(settings.MutedTopics))
            .Bind(5, From(quiet, settings.Mode)).Bind(6, quiet?.To.Ticks ?? NoTime).Bind(7, quiet?.TimeZone)
            .Bind(8, settings.DoNotDisturbUntil?.UtcTicks ?? NoTime).Execute();
        return true;
    }

    public static void Delete(SqliteDatabase database, UserKey user) => database.Statement(Remove).Bind(1, user.App).Bind(2, user.User).Execute();

    /// <summary>Null when none were stored.</summary>
    public static UserSettings? Get(SqliteDatabase database, UserKey user)
    {
        var row = database.Statement(Select).Bind(1, user.App).Bind(2, user.User);
        if (!row.Read())
        {
            return null;
        }

        var from = row.Int64(2);
        var isDrop = from is DropsWithoutTime || from % TimeSpan.TicksPerMinute == DropMark;
        var settings = new UserSettings
        {
            Mode = isDrop ? QuietMode.Drop : QuietMode.Hold,
            MutedClasses = Decode(row.Bytes(0)),
            MutedTopics = Decode(row.Bytes(1)),
            QuietHours = row.IsNull(4) ? null : new QuietHours(new TimeOnly(isDrop ? from - DropMark : from), new TimeOnly(row.Int64(3)), row.Text(4)),
            DoNotDisturbUntil = row.Int64(5) == NoTime ? null : row.Time(5),
        };
        row.Reset();
        return settings;
    }

    private static long From(QuietHours? quiet, QuietMode mode) => (quiet, mode) switch
    {
        (null, QuietMode.Drop) => DropsWithoutTime,
        (null, _) => NoTime,
        (_, QuietMode.Drop) => quiet.From.Ticks + DropMark,
        _ => quiet.From.Ticks,
    };

    private static string Encode(IReadOnlyList<string> texts)
    {
        if (texts.Count == 0)
        {
            return "[]";
        }

        var buffer = new ArrayBufferWriter<byte>();
        using (var writer = new Utf8JsonWriter(buffer))
        {
            writer.WriteStartArray();
            foreach (var text in texts)
            {
                writer.WriteStringValue(text);
            }

            writer.WriteEndArray();
        }

        return Encoding.UTF8.GetString(buffer.WrittenSpan);
    }

    private static string[] Decode(ReadOnlySpan<byte> json)
    {
        if (json.SequenceEqual("[]"u8))
        {
            return [];
        }

        var texts = new List<string>();
        var reader = new Utf8JsonReader(json);
        while (reader.Read())
        {
            if (reader.TokenType == JsonTokenType.String)
            {
                texts.Add(reader.GetString()!);
            }
        }

        return [.. texts];
    }
}
