using Pnh.Core.Stores;
using Pnh.Core.Users;
using Pnh.Storage.Registry;
using Pnh.TestKit;

namespace Pnh.Core.Tests.Devices;

public sealed class SqliteDeviceStoreTests : DeviceStoreSpecification, IDisposable
{
    private static readonly UserKey Ada = new("demo", "ada");

    private readonly TemporaryFolder _folder = new();
    private SqliteDeviceStore? _store;

    private SqliteDeviceStore Sqlite => _store!;

    public void Dispose() => _folder.Dispose();

    [Fact(Timeout = 30_000)]
    public async Task GetUserAsync_Cached_CompletesSynchronouslyWithOneScopeObject()
    {
        await Sqlite.PutDeviceAsync(Ada, Phone("a", "1"), CancellationToken.None);
        await Sqlite.PutDeviceAsync(Ada, Phone("b", "2"), CancellationToken.None);
        var first = await Sqlite.GetUserAsync(Ada, CancellationToken.None);

        var second = Sqlite.GetUserAsync(Ada, CancellationToken.None).AsTask();

        Assert.True(second.IsCompletedSuccessfully);
        Assert.Same(first, await second);
        Assert.Same(first.Devices[0].Addresses[0].Scope, first.Devices[1].Addresses[0].Scope);
        Assert.Same(first.Devices[0].Addresses[0].Channel, first.Devices[1].Addresses[0].Channel);
    }

    [Fact(Timeout = 30_000)]
    public async Task GetUserAsync_LastDeviceDeleted_IsKnownToHaveNone()
    {
        await Sqlite.PutDeviceAsync(Ada, Phone("a", "1"), CancellationToken.None);
        await Sqlite.PutDeviceAsync(Ada, Phone("b", "2"), CancellationToken.None);
        await Sqlite.DeleteDeviceAsync(Ada, "a", CancellationToken.None);
        await Sqlite.DeleteDeviceAsync(Ada, "b", CancellationToken.None);
        await ReopenAsync();

        Assert.Same(UserSnapshot.Gone, await Sqlite.GetUserAsync(Ada, CancellationToken.None));
        Assert.True(UserSnapshot.Gone.IsKnown);
        Assert.False((await Sqlite.GetUserAsync(User(1), CancellationToken.None)).IsKnown);

        // Who comes back and whose rows are lost then is not gone.
        await Sqlite.PutDeviceAsync(Ada, Phone("a", "1"), CancellationToken.None);
        await Sqlite.Engine.Writer.WriteAsync(static database =>
        {
            database.Execute("DELETE FROM devices");
            return true;
        });
        await ReopenAsync();
        Assert.Same(UserSnapshot.Empty, await Sqlite.GetUserAsync(Ada, CancellationToken.None));
    }

    [Fact(Timeout = 30_000)]
    public async Task RestingAddresses_OverAReopen_AreThoseThatTheirDevicesStillHave()
    {
        foreach (var (user, token) in new[] { (User(1), "1"), (User(2), "2"), (User(3), "3"), (User(4), "4") })
        {
            await Sqlite.PutDeviceAsync(user, Phone("a", token), CancellationToken.None);
            var address = (await Sqlite.GetUserAsync(user, CancellationToken.None)).Devices[0].Addresses[0];
            await Sqlite.RestAddressAsync(new RestingAddress(user, "a", address, user == User(4) ? "demo/1" : "demo/0", "BadDeviceToken", address.RegisteredAt), CancellationToken.None);
        }

        await Sqlite.PutDeviceAsync(User(1), Phone("a", "1"), CancellationToken.None); // confirmed: it rests as before
        await Sqlite.PutDeviceAsync(User(2), Phone("a", "new"), CancellationToken.None);
        await Sqlite.DeleteUserAsync(User(3), CancellationToken.None);
        await ReopenAsync();

        var found = await Sqlite.FindRestingAddressesAsync(CancellationToken.None);
        Assert.Equal([(User(1), "a", "1", "demo/0"), (User(4), "a", "4", "demo/1")], found.Select(static one => (one.User, one.Device, one.Address.Value, one.Account)).OrderBy(static one => one.Value));
        Assert.All(found, static one => Assert.Equal("BadDeviceToken", one.Reason));

        await Sqlite.ReleaseAddressesAsync("apns", "demo/0", CancellationToken.None);
        Assert.Equal("demo/1", Assert.Single(await Sqlite.FindRestingAddressesAsync(CancellationToken.None)).Account);
    }

    [Fact(Timeout = 30_000)]
    public async Task ReadFolderAsync_IsWhatWasPut()
    {
        Assert.Equal(new FolderMark(0, true), await Sqlite.ReadFolderAsync(CancellationToken.None));
        await Sqlite.PutFolderAsync(1);
        await Sqlite.PutFolderAsync(7);
        await Sqlite.PutDeviceAsync(Ada, Phone("a", "1"), CancellationToken.None);
        await ReopenAsync();

        Assert.Equal(new FolderMark(7, false), await Sqlite.ReadFolderAsync(CancellationToken.None));
    }

    [Fact(Timeout = 30_000)]
    public async Task GetUserAsync_LargeSettings_WeighWhatTheyTake()
    {
        using var folder = new TemporaryFolder();
        await using var store = SqliteDeviceStore.Open(folder.FullPath, TimeProvider.System, cachedUsers: 100);
        var settings = new UserSettings { MutedTopics = [.. Enumerable.Range(0, 500).Select(static n => $"topic-{n:D4}-{new string('x', 50)}")] };
        for (var n = 0; n < 100; n++)
        {
            await store.PutSettingsAsync(User(n), settings, CancellationToken.None);
            await store.GetUserAsync(User(n), CancellationToken.None);
        }

        // 500 topics of 61 characters are 77 kB: two generations of 100 units hold the last ones only.
        Assert.InRange(store.CachedWeight, 290, 700);
        Assert.False(store.TryGetUser(User(0), out _));
        Assert.False(store.TryGetUser(User(90), out _));
    }

    [Fact(Timeout = 30_000)]
    public async Task GetUserAsync_OrdinaryUsers_WeighTwoEach()
    {
        using var folder = new TemporaryFolder();
        await using var store = SqliteDeviceStore.Open(folder.FullPath, TimeProvider.System, cachedUsers: 100);
        for (var n = 0; n < 50; n++)
        {
            await store.PutDeviceAsync(User(n), Phone("0f8fad5b-d9cb-469f-a165-70867728950e", $"{n:D4}{new string('t', 300)}"), CancellationToken.None);
            await store.PutSettingsAsync(User(n), new UserSettings { MutedClasses = ["bulk"], MutedTopics = ["room-7"] }, CancellationToken.None);
            await store.GetUserAsync(User(n), CancellationToken.None);
        }

        Assert.Equal(100, store.CachedWeight);
        Assert.True(store.TryGetUser(User(0), out _));
    }

    private static UserKey User(int number) => new("demo", $"user-{number}");

    [Fact(Timeout = 30_000)]
    public async Task GetUsersAsync_WhoAreHere_AreKeptInMemoryWithoutAnAddress()
    {
        await Sqlite.GetUsersAsync("demo", ["far"], areHere: false, CancellationToken.None);
        Assert.False(Sqlite.TryGetUser(new UserKey("demo", "far"), out _));
        await Sqlite.GetUsersAsync("demo", ["near"], areHere: true, CancellationToken.None);
        Assert.True(Sqlite.TryGetUser(new UserKey("demo", "near"), out _));
    }

    [Fact(Timeout = 30_000)]
    public async Task TryGetMembers_OnceRead_IsThereUntilAWrite()
    {
        var room = new TopicKey("demo", "room");
        Assert.False(Sqlite.TryGetMembers(room, out _));
        await ReadAsync("room");
        Assert.True(Sqlite.TryGetMembers(room, out var none));
        Assert.Empty(none.Users);

        var version = Sqlite.MembersVersion;
        await Sqlite.AddMemberAsync("demo", "room", "ada", CancellationToken.None);
        Assert.False(Sqlite.TryGetMembers(room, out _));
        Assert.NotEqual(version, Sqlite.MembersVersion);
        version = Sqlite.MembersVersion;
        await ReadAsync("room");
        Assert.Equal(version, Sqlite.MembersVersion);
        Assert.True(Sqlite.TryGetMembers(room, out var one));
        Assert.Equal(["ada"], one.Users);
        Assert.True(one.Contains("ada"));
        Assert.False(one.Contains("eve"));

        await Sqlite.RemoveMemberAsync("demo", "room", "ada", CancellationToken.None);
        Assert.False(Sqlite.TryGetMembers(room, out _));
        Assert.NotEqual(version, Sqlite.MembersVersion);
    }

    [Fact(Timeout = 30_000)]
    public async Task TryGetMembers_MoreThanAPage_IsNotKept()
    {
        await Task.WhenAll(Enumerable.Range(0, 256).Select(n => Sqlite.AddMemberAsync("demo", "hall", $"u{n}", CancellationToken.None)));
        await ReadAsync("hall");
        Assert.False(Sqlite.TryGetMembers(new TopicKey("demo", "hall"), out _));
    }

    [Fact(Timeout = 30_000)]
    public async Task TryGetUser_OnceRead_IsThereUntilAWrite()
    {
        Assert.False(Sqlite.TryGetUser(Ada, out _));
        await Sqlite.GetUserAsync(Ada, CancellationToken.None);
        Assert.True(Sqlite.TryGetUser(Ada, out var unknown));
        Assert.Empty(unknown.Devices);
        await Sqlite.PutDeviceAsync(Ada, Phone("a", "1"), CancellationToken.None);
        Assert.False(Sqlite.TryGetUser(Ada, out _));
    }

    private async Task ReadAsync(string topic)
    {
        await foreach (var member in Sqlite.GetMembersAsync("demo", topic, CancellationToken.None))
        {
            Assert.NotEmpty(member);
        }
    }

    [Fact(Timeout = 30_000)]
    public async Task PutDeviceAsync_NoSpace_NothingHalfWrittenAndGoesOnAfterwards()
    {
        await Sqlite.PutDeviceAsync(Ada, Phone("a", "1"), CancellationToken.None);
        await Sqlite.Engine.Writer.WriteAsync(database => database.Scalar("PRAGMA max_page_count=1"));
        var many = Phone("a", "1") with
        {
            AppVersion = "2",
            Addresses = [.. Enumerable.Range(0, 2_000).Select(n => new PushAddress("apns", "token", $"token-{n}", "s", TimeProvider.System.GetUtcNow()))],
        };

        await Assert.ThrowsAsync<StoreUnavailableException>(() => Sqlite.PutDeviceAsync(Ada, many, CancellationToken.None));

        var kept = Assert.Single((await Sqlite.GetUserAsync(Ada, CancellationToken.None)).Devices);
        Assert.Null(kept.AppVersion);
        Assert.Equal("1", Assert.Single(kept.Addresses).Value);
        await Sqlite.Engine.Writer.WriteAsync(database => database.Scalar("PRAGMA max_page_count=1000000"));
        Assert.Equal(PutDeviceResult.Updated, (await Sqlite.PutDeviceAsync(Ada, many, CancellationToken.None)).Result);
        Assert.Equal(2_000, Assert.Single((await Sqlite.GetUserAsync(Ada, CancellationToken.None)).Devices).Addresses.Count);
    }

    [Fact(Timeout = 30_000)]
    public async Task PutDeviceAsync_CompletedBeforeAKill_IsThereAfterwards()
    {
        for (var n = 0; n < 50; n++)
        {
            await Sqlite.PutDeviceAsync(new UserKey("demo", $"u{n}"), Phone("d", $"t{n}"), CancellationToken.None);
        }

        // What a killed process leaves: the files as they lie there, without the shared-memory index.
        using var copy = new TemporaryFolder();
        File.Copy(_folder["registry.db"], copy["registry.db"]);
        File.Copy(_folder["registry.db-wal"], copy["registry.db-wal"]);
        await using var survivor = SqliteDeviceStore.Open(copy.FullPath, TimeProvider.System);
        for (var n = 0; n < 50; n++)
        {
            Assert.Equal($"t{n}", (await survivor.GetUserAsync(new UserKey("demo", $"u{n}"), CancellationToken.None)).Devices[0].Addresses[0].Value);
        }
    }

    protected override Task<IDeviceStore> OpenAsync()
    {
        _store = SqliteDeviceStore.Open(_folder.FullPath, TimeProvider.System);
        return Task.FromResult<IDeviceStore>(_store);
    }

    protected override Task CloseAsync() => _store!.DisposeAsync().AsTask();

    private static Device Phone(string id, string token) => new()
    {
        Id = id,
        Platform = Platform.Ios,
        RegisteredAt = TimeProvider.System.GetUtcNow(),
        Addresses = [new PushAddress("apns", "token", token, "production/com.example", TimeProvider.System.GetUtcNow())],
    };
}
