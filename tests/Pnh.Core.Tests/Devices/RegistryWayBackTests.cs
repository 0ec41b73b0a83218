using Pnh.Core.Stores;
using Pnh.Core.Users;
using Pnh.Storage.Files;
using Pnh.Storage.Registry;
using Pnh.Storage.Sqlite;
using Pnh.TestKit;

namespace Pnh.Core.Tests.Devices;

/// <summary>A hub of before the folder's id is started on a registry of today, and today's again: neither refuses, and what each wrote is there.</summary>
public sealed class RegistryWayBackTests : IDisposable
{
    // The steps of schema 1 as they were released. Not taken from the product: this is the older hub.
    private static readonly string[] SchemaOne =
    [
        "CREATE TABLE devices(row INTEGER PRIMARY KEY, app TEXT NOT NULL, user TEXT NOT NULL, device TEXT NOT NULL, platform INTEGER NOT NULL, locale TEXT, version TEXT, registered INTEGER NOT NULL, UNIQUE(app, user, device))",
        "CREATE TABLE addresses(app TEXT NOT NULL, channel TEXT NOT NULL, kind TEXT NOT NULL, value TEXT NOT NULL, device INTEGER NOT NULL REFERENCES devices(row) ON DELETE CASCADE, position INTEGER NOT NULL, scope TEXT NOT NULL, registered INTEGER NOT NULL, PRIMARY KEY(app, channel, kind, value)) WITHOUT ROWID",
        "CREATE INDEX addresses_of_device ON addresses(device)",
        "CREATE TABLE settings(app TEXT NOT NULL, user TEXT NOT NULL, muted_classes TEXT NOT NULL, muted_topics TEXT NOT NULL, quiet_from INTEGER, quiet_to INTEGER, quiet_zone TEXT, do_not_disturb_until INTEGER, PRIMARY KEY(app, user)) WITHOUT ROWID",
        "CREATE TABLE members(app TEXT NOT NULL, topic TEXT NOT NULL, user TEXT NOT NULL, PRIMARY KEY(app, topic, user)) WITHOUT ROWID",
        "CREATE TABLE keys(hash BLOB PRIMARY KEY, app TEXT NOT NULL, scopes TEXT NOT NULL, created INTEGER NOT NULL) WITHOUT ROWID",
    ];

    // Released once as a step behind it.
    private static readonly string[] SchemaTwo =
    [
        "CREATE TABLE folder(id INTEGER NOT NULL)",
        "CREATE TABLE gone(app TEXT NOT NULL, user TEXT NOT NULL, at INTEGER NOT NULL, PRIMARY KEY(app, user)) WITHOUT ROWID",
        "CREATE INDEX gone_at ON gone(at)",
    ];

    private static readonly UserKey Ada = new("demo", "ada");
    private static readonly UserKey Bob = new("demo", "bob");

    private readonly TemporaryFolder _folder = new();

    private string File => _folder["registry.db"];

    public void Dispose() => _folder.Dispose();

    [Fact(Timeout = 30_000)]
    public async Task Open_ByAnOlderHubInBetween_KeepsWhatEachWrote()
    {
        var registered = new DateTimeOffset(2026, 11, 24, 0, 0, 0, TimeSpan.Zero);
        await using (var today = SqliteDeviceStore.Open(_folder.FullPath, TimeProvider.System))
        {
            await today.PutDeviceAsync(Ada, new Device { Id = "a", Platform = Platform.Web, RegisteredAt = registered }, CancellationToken.None);
            await today.PutDeviceAsync(Bob, new Device { Id = "b", Platform = Platform.Web, RegisteredAt = registered }, CancellationToken.None);
            await today.DeleteDeviceAsync(Bob, "b", CancellationToken.None);
        }

        await using (var older = SqliteEngine.Open(File, new SqliteSchema(SchemaOne), TimeProvider.System))
        {
            Assert.Equal("a", await older.Writer.WriteAsync(static database => database.Scalar("SELECT device FROM devices")));
            await older.Writer.WriteAsync(static database =>
            {
                database.Execute("INSERT INTO devices(app, user, device, platform, registered) VALUES('demo', 'lin', 'tablet', 3, 0)");
                database.Execute("INSERT INTO members VALUES('demo', 'room-7', 'lin')");
                return true;
            });
        }

        await using var again = SqliteDeviceStore.Open(_folder.FullPath, TimeProvider.System);
        Assert.Equal("a", Assert.Single((await again.GetUserAsync(Ada, CancellationToken.None)).Devices).Id);
        Assert.Equal("tablet", Assert.Single((await again.GetUserAsync(new UserKey("demo", "lin"), CancellationToken.None)).Devices).Id);
        Assert.Same(UserSnapshot.Gone, await again.GetUserAsync(Bob, CancellationToken.None));
    }

    [Fact(Timeout = 30_000)]
    public async Task Open_FileOfSchemaTwo_GoesBackToOneWithItsRows()
    {
        await using (var released = SqliteEngine.Open(File, new SqliteSchema(SchemaOne, SchemaTwo), TimeProvider.System))
        {
            await released.Writer.WriteAsync(static database =>
            {
                database.Execute("INSERT INTO gone VALUES('demo', 'bob', 900000000000000000)");
                return true;
            });
        }

        await using (var today = SqliteDeviceStore.Open(_folder.FullPath, TimeProvider.System))
        {
            Assert.Same(UserSnapshot.Gone, await today.GetUserAsync(Bob, CancellationToken.None));

            // His name gives way to a hash, which says the same.
            while (await today.Engine.Writer.WriteAsync(static database => database.Scalar("SELECT 1 FROM gone LIMIT 1")) is not null)
            {
                await Task.Delay(50);
            }
        }

        await using (var next = SqliteDeviceStore.Open(_folder.FullPath, TimeProvider.System))
        {
            Assert.Same(UserSnapshot.Gone, await next.GetUserAsync(Bob, CancellationToken.None));
            Assert.Same(UserSnapshot.Empty, await next.GetUserAsync(Ada, CancellationToken.None));
        }

        await using var older = SqliteEngine.Open(File, new SqliteSchema(SchemaOne), TimeProvider.System);
        Assert.Equal("1", await older.Writer.WriteAsync(static database => database.Scalar("PRAGMA user_version")));
    }

    [Fact(Timeout = 30_000)]
    public async Task Open_FileOfALaterHub_IsRefused()
    {
        await SqliteEngine.Open(File, new SqliteSchema(SchemaOne, SchemaTwo, ["CREATE TABLE later(n)"]), TimeProvider.System).DisposeAsync();

        Assert.Contains("newer hub", Assert.Throws<DataFolderException>(() => SqliteDeviceStore.Open(_folder.FullPath, TimeProvider.System)).Message, StringComparison.Ordinal);
    }
}
