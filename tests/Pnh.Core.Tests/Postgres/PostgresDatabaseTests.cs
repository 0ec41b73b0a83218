using System.Security.Cryptography;
using Npgsql;
using Pnh.Core.Stores;
using Pnh.Core.Users;
using Pnh.Storage.Files;
using Pnh.Storage.Postgres.Registry;
using Pnh.TestKit;

namespace Pnh.Core.Tests.Postgres;

/// <summary>Which database is taken, by whom, and what a broken session does.</summary>
public sealed class PostgresDatabaseTests
{
    private static readonly UserKey Ada = new("demo", "ada");

    [PostgresFact]
    public async Task OpenAsync_AnotherHasIt_IsRefusedUntilThatOneIsGone()
    {
        var database = await DatabaseAsync();
        await using (await OpenAsync(database))
        {
            var fault = await Assert.ThrowsAsync<StoreUnavailableException>(() => OpenAsync(database));
            Assert.Equal("Another pnh writes this database.", fault.Message);
        }

        await using var next = await OpenAsync(database);
    }

    [PostgresFact]
    public async Task OpenAsync_ManyAtOnceOnANewDatabase_OneHasIt()
    {
        var database = await DatabaseAsync();
        var opened = await Task.WhenAll(Enumerable.Range(0, 8).Select(_ => Task.Run(async () =>
        {
            try
            {
                return await OpenAsync(database);
            }
            catch (StoreUnavailableException)
            {
                return null;
            }
        })));

        await using var one = Assert.Single(opened, static store => store is not null);
        await PutAsync(one!, "phone", "a1");
    }

    [PostgresFact]
    public async Task OpenAsync_NewerSchema_IsRefused()
    {
        var database = await DatabaseAsync();
        await (await OpenAsync(database)).DisposeAsync();
        await RunAsync(database, "UPDATE pnh.meta SET value = '99' WHERE key = 'schema'");

        var fault = await Assert.ThrowsAsync<DataFolderException>(() => OpenAsync(database));
        Assert.StartsWith("The database is of a newer pnh (its schema is 99, this version knows ", fault.Message, StringComparison.Ordinal);
    }

    [PostgresFact]
    public async Task OpenAsync_SettingThatMayLoseCommits_IsRefused()
    {
        var database = await DatabaseAsync();
        await RunAsync(database, "ALTER DATABASE " + new NpgsqlConnectionStringBuilder(database).Database + " SET synchronous_commit = off");

        var fault = await Assert.ThrowsAsync<DataFolderException>(() => OpenAsync(database));
        Assert.StartsWith("PostgreSQL runs with synchronous_commit=off", fault.Message, StringComparison.Ordinal);
    }

    [PostgresTheory]
    [InlineData("Host=127.0.0.1;Port=1;Username=pnh;Password=hunter2;Database=x", "PostgreSQL cannot be reached.")]
    [InlineData("Database=nowhere;Password=hunter2", "PostgreSQL refused: database \"nowhere\" does not exist (3D000).")]
    public async Task OpenAsync_NoDatabase_SaysWhyWithoutTheSecret(string options, string message)
    {
        var settings = options.StartsWith("Host", StringComparison.Ordinal) ? options : await DatabaseAsync() + ";" + options;

        var fault = await Assert.ThrowsAsync<StoreUnavailableException>(() => OpenAsync(settings));
        Assert.Equal(message, fault.Message);
        Assert.DoesNotContain("hunter2", fault.ToString(), StringComparison.Ordinal);
    }

    [PostgresFact]
    public async Task Write_SessionWasEnded_TheNextOneIsWrittenOnANewSession()
    {
        var database = await DatabaseAsync();
        await using var store = await OpenAsync(database);
        await PutAsync(store, "phone", "a1");
        await RunAsync(database, "SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory' AND database = (SELECT oid FROM pg_database WHERE datname = current_database())");

        // Whether the first one was written is not known: it is refused, and may be asked again.
        await Assert.ThrowsAsync<StoreUnavailableException>(() => PutAsync(store, "phone", "a2"));
        Assert.NotNull(store.Refusal);
        await PutAsync(store, "phone", "a3");
        Assert.Null(store.Refusal);
        Assert.Equal("a3", Assert.Single(Assert.Single((await store.GetUserAsync(Ada, default)).Devices).Addresses).Value);
    }

    [PostgresFact]
    public async Task Write_AnotherHasTheLockMeanwhile_NothingIsWritten()
    {
        var database = await DatabaseAsync();
        await using var store = await OpenAsync(database);
        await RunAsync(database, "SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory' AND database = (SELECT oid FROM pg_database WHERE datname = current_database())");
        await using (await OpenAsync(database))
        {
            await Assert.ThrowsAsync<StoreUnavailableException>(() => PutAsync(store, "phone", "a1"));
            var fault = await Assert.ThrowsAsync<StoreUnavailableException>(() => PutAsync(store, "phone", "a1"));
            Assert.Equal("Another pnh writes this database.", fault.Message);
        }

        Assert.Empty((await store.GetUserAsync(Ada, default)).Devices);
    }

    [PostgresFact]
    public async Task Write_TextsThatPostgresDoesNotTake_AreKeptWithoutThem()
    {
        await using var store = await OpenAsync(await DatabaseAsync());
        var value = "https://push.example/" + new string('x', 4_000) + " key";
        await store.PutDeviceAsync(
            Ada, Phone("phone", new PushAddress("webpush", "subscription", value, "", TimeProvider.System.GetUtcNow())) with { Locale = "d\0e" }, CancellationToken.None);

        var device = Assert.Single((await store.GetUserAsync(Ada, default)).Devices);
        Assert.Equal(("de", value), (device.Locale, Assert.Single(device.Addresses).Value));
    }

    [PostgresFact]
    public async Task Write_OneOfAGroupCannotBeWritten_TheOthersAre()
    {
        await using var store = await OpenAsync(await DatabaseAsync());
        var refused = store.PutSettingsAsync(new UserKey("demo", Convert.ToHexString(RandomNumberGenerator.GetBytes(10_000))), UserSettings.Default, default); // longer than a row of an index
        var others = Enumerable.Range(0, 50).Select(n => PutAsync(store, $"phone-{n}", $"a{n}")).ToArray();
        await Task.WhenAll(others);

        await Assert.ThrowsAsync<StoreUnavailableException>(() => refused);
        Assert.Equal(50, (await store.GetUserAsync(Ada, default)).Devices.Count);
    }

    private static async Task<string> DatabaseAsync() => await (await PostgresServer.SharedAsync()).CreateDatabaseAsync();

    private static Task<PostgresDeviceStore> OpenAsync(string database) => PostgresDeviceStore.OpenAsync(database, TimeProvider.System);

    private static Task<Registration> PutAsync(PostgresDeviceStore store, string device, string token) =>
        store.PutDeviceAsync(Ada, Phone(device, new PushAddress("apns", "token", token, "production/com.example", TimeProvider.System.GetUtcNow())), CancellationToken.None);

    private static Device Phone(string id, PushAddress address) => new() { Id = id, Platform = Platform.Ios, RegisteredAt = TimeProvider.System.GetUtcNow(), Addresses = [address] };

    private static async Task RunAsync(string database, string sql)
    {
        await using var source = NpgsqlDataSource.Create(database);
        await using var command = source.CreateCommand(sql);
        await command.ExecuteNonQueryAsync();
    }
}
