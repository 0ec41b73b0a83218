using Pnh.Storage.Sqlite;

namespace Pnh.Storage.Registry;

/// <summary>
/// The tables of <c>registry.db</c>. Texts compare by their UTF-8 bytes (SQLite's BINARY); times are 100 ns ticks since year 1, UTC.
/// </summary>
internal static class SqliteRegistrySchema
{
    public static SqliteSchema Schema { get; } = new(
        [
            """
            CREATE TABLE devices(
                row INTEGER PRIMARY KEY, app TEXT NOT NULL, user TEXT NOT NULL, device TEXT NOT NULL,
                platform INTEGER NOT NULL, locale TEXT, version TEXT, registered INTEGER NOT NULL,
                UNIQUE(app, user, device))
            """,
            """
            CREATE TABLE addresses(
                app TEXT NOT NULL, channel TEXT NOT NULL, kind TEXT NOT NULL, value TEXT NOT NULL,
                device INTEGER NOT NULL REFERENCES devices(row) ON DELETE CASCADE, position INTEGER NOT NULL,
                scope TEXT NOT NULL, registered INTEGER NOT NULL,
                PRIMARY KEY(app, channel, kind, value)) WITHOUT ROWID
            """,
            "CREATE INDEX addresses_of_device ON addresses(device)",
            """
            CREATE TABLE settings(
                app TEXT NOT NULL, user TEXT NOT NULL, muted_classes TEXT NOT NULL, muted_topics TEXT NOT NULL,
                quiet_from INTEGER, quiet_to INTEGER, quiet_zone TEXT, do_not_disturb_until INTEGER,
                PRIMARY KEY(app, user)) WITHOUT ROWID
            """,
            "CREATE TABLE members(app TEXT NOT NULL, topic TEXT NOT NULL, user TEXT NOT NULL, PRIMARY KEY(app, topic, user)) WITHOUT ROWID",
            "CREATE TABLE keys(hash BLOB PRIMARY KEY, app TEXT NOT NULL, scopes TEXT NOT NULL, created INTEGER NOT NULL) WITHOUT ROWID",
        ])
    {
        Additions =
        [
            // The data folder's id, at most one row; users whose last device was deleted, and when: by name (older builds), by hash.
            "CREATE TABLE IF NOT EXISTS folder(id INTEGER NOT NULL)",
            "CREATE TABLE IF NOT EXISTS gone(app TEXT NOT NULL, user TEXT NOT NULL, at INTEGER NOT NULL, PRIMARY KEY(app, user)) WITHOUT ROWID",
            "CREATE INDEX IF NOT EXISTS gone_at ON gone(at)",

            "CREATE TABLE IF NOT EXISTS gone_users(hash BLOB PRIMARY KEY, at INTEGER NOT NULL) WITHOUT ROWID",
            "CREATE INDEX IF NOT EXISTS gone_users_at ON gone_users(at)",

            // Erasures, by a hash of the user; counts are null until one has ended. "barrier" is by the machine's clock.
            "CREATE TABLE IF NOT EXISTS erasures(id TEXT PRIMARY KEY, hash BLOB NOT NULL, app TEXT NOT NULL, at INTEGER NOT NULL, barrier INTEGER NOT NULL, devices INTEGER, topics INTEGER, sessions INTEGER, withdrawn INTEGER, gone_by INTEGER) WITHOUT ROWID",
            "CREATE INDEX IF NOT EXISTS erasures_of_user ON erasures(hash)",
            "CREATE INDEX IF NOT EXISTS erasures_barrier ON erasures(barrier)",

            // When the file was written anew without what older builds had deleted; at most one row.
            "CREATE TABLE IF NOT EXISTS scrubbed(at INTEGER NOT NULL)",

            // Which addresses were taken off which devices, and why.
            "CREATE TABLE IF NOT EXISTS removed(app TEXT NOT NULL, user TEXT NOT NULL, device TEXT NOT NULL, channel TEXT NOT NULL, kind TEXT NOT NULL, at INTEGER NOT NULL, reason TEXT, PRIMARY KEY(app, user, device, channel, kind)) WITHOUT ROWID",
            "CREATE INDEX IF NOT EXISTS removed_at ON removed(at)",

            // Browsers' addresses that an older build kept as they came: none behind an open.
            "CREATE INDEX IF NOT EXISTS addresses_former ON addresses(channel) WHERE channel = 'webpush' AND scope = ''",

            // Addresses that get no pushes for now.
            "CREATE TABLE IF NOT EXISTS resting(device INTEGER NOT NULL REFERENCES devices(row) ON DELETE CASCADE, channel TEXT NOT NULL, kind TEXT NOT NULL, value TEXT NOT NULL, account TEXT NOT NULL, reason TEXT, at INTEGER NOT NULL, PRIMARY KEY(device, channel, kind)) WITHOUT ROWID",

            // A user's topics: asked for when a session opens.
            "CREATE INDEX IF NOT EXISTS members_of_user ON members(app, user, topic)",
        ],
        StepsTakenBack = 1,
    };
}
