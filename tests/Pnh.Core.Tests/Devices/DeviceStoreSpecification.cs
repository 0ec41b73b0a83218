using System.Globalization;
using System.Text;
using Pnh.Core.Events;
using Pnh.Core.Stores;
using Pnh.Core.Users;

namespace Pnh.Core.Tests.Devices;

/// <summary>What every device store must do. An engine's test class says how to open it; apps are unique per test, so engines may share one database.</summary>
public abstract class DeviceStoreSpecification : IAsyncLifetime
{
    private static readonly DateTimeOffset Noon = new(2026, 5, 1, 12, 0, 0, TimeSpan.Zero);
    private static int _apps;

    private readonly string _app = string.Create(CultureInfo.InvariantCulture, $"app-{Environment.ProcessId}-{Interlocked.Increment(ref _apps)}");

    protected IDeviceStore Store { get; private set; } = null!;

    private UserKey Ada => new(_app, "ada");

    private UserKey Bob => new(_app, "bob");

    public async Task InitializeAsync() => Store = await OpenAsync();

    public Task DisposeAsync() => CloseAsync();

    protected abstract Task<IDeviceStore> OpenAsync();

    protected abstract Task CloseAsync();

    [Fact(Timeout = 30_000)]
    public async Task GetUserAsync_UnknownUser_IsEmptyAndThenCached()
    {
        Assert.Same(UserSnapshot.Empty, await Store.GetUserAsync(Ada, CancellationToken.None));
        Assert.True(Store.GetUserAsync(Ada, CancellationToken.None).AsTask().IsCompletedSuccessfully);
    }

    [Fact(Timeout = 30_000)]
    public async Task PutDeviceAsync_WholeRecord_ComesBackEqualAlsoAfterReopen()
    {
        var device = Phone("phone-1", Noon, Apns("aa11"), new PushAddress("apns", "voipToken", "bb22", "sandbox/com.example.voip", Noon.AddSeconds(1)))
            with
        { Locale = "pt-BR", AppVersion = "7.1" };

        Assert.Equal(PutDeviceResult.Created, await PutAsync(Ada, device));
        AssertSame(device, Assert.Single((await GetAsync(Ada)).Devices));

        await ReopenAsync();
        AssertSame(device, Assert.Single((await GetAsync(Ada)).Devices));
    }

    [Fact(Timeout = 30_000)]
    public async Task PutDeviceAsync_Again_ReplacesTheWholeRecord()
    {
        await PutAsync(Ada, Phone("phone-1", Noon, Apns("aa11")) with { Locale = "de" });
        var second = new Device { Id = "phone-1", Platform = Platform.Android, RegisteredAt = Noon.AddDays(1), Addresses = [Fcm("token", "t1")] };

        Assert.Equal(PutDeviceResult.Updated, await PutAsync(Ada, second));

        AssertSame(second, Assert.Single((await GetAsync(Ada)).Devices));
    }

    [Fact(Timeout = 30_000)]
    public async Task GetUserAsync_SeveralDevices_OldestRegistrationFirst()
    {
        await PutAsync(Ada, Phone("c", Noon.AddMinutes(2)));
        await PutAsync(Ada, Phone("a", Noon.AddMinutes(3)));
        await PutAsync(Ada, Phone("b", Noon.AddMinutes(1)));

        Assert.Equal(["b", "c", "a"], (await GetAsync(Ada)).Devices.Select(device => device.Id));
    }

    [Fact(Timeout = 30_000)]
    public async Task PutDeviceAsync_AddressOfAnotherUser_MovesAndTheOtherKeepsTheDevice()
    {
        await PutAsync(Ada, Phone("phone-1", Noon, Apns("aa11"), Apns("cc33")));
        await GetAsync(Ada);
        await GetAsync(Bob);

        await PutAsync(Bob, Phone("phone-9", Noon, Apns("aa11")));

        Assert.Equal(["cc33"], Values(await GetAsync(Ada)));
        Assert.Equal(["aa11"], Values(await GetAsync(Bob)));
    }

    [Fact(Timeout = 30_000)]
    public async Task PutDeviceAsync_AddressesOfOtherDevices_TellsWhoseTheyWere()
    {
        await PutAsync(Ada, Phone("phone-1", Noon, Apns("aa11"), Apns("bb22"), Fcm("token", "fid1:APA91")));
        await PutAsync(Bob, Phone("phone-2", Noon, Apns("cc33")));

        var again = await RegisterAsync(Ada, Phone("phone-1", Noon, Apns("aa11"), Apns("bb22"), Fcm("token", "fid1:APA91")));
        var taken = await RegisterAsync(Bob, Phone("phone-9", Noon, Apns("aa11"), Apns("bb22"), Apns("cc33"), Fcm("fid", "fid1"), Apns("new")));

        Assert.Empty(again.Moved);
        Assert.Equal(
            [("ada", "phone-1", "apns"), ("ada", "phone-1", "fcm"), ("bob", "phone-2", "apns")],
            taken.Moved.Select(static moved => (moved.User, moved.Device, moved.Channel)).Order());
    }

    [Fact(Timeout = 30_000)]
    public async Task PutDeviceAsync_SameValueInAnotherAppChannelOrKind_DoesNotMove()
    {
        var elsewhere = new UserKey(_app + "-b", "ada");
        await PutAsync(Ada, Phone("phone-1", Noon, Apns("v"), Fcm("token", "v"), new PushAddress("apns", "voipToken", "v", "", Noon)));

        await PutAsync(elsewhere, Phone("phone-1", Noon, Apns("v")));

        Assert.Equal(["v", "v", "v"], Values(await GetAsync(Ada)));
        Assert.Equal(["v"], Values(await GetAsync(elsewhere)));
    }

    [Fact(Timeout = 30_000)]
    public async Task PutDeviceAsync_Fid_TakesAwayItsTokensAndNoOthers()
    {
        await PutAsync(Ada, Phone("p", Noon, Fcm("token", "fid1:APA91"), Fcm("token", "fid1x:APA91"), Fcm("token", "fid1"), Fcm("token", "fid1;x")));

        await PutAsync(Bob, Phone("q", Noon, Fcm("fid", "fid1")));

        Assert.Equal(["fid1x:APA91", "fid1", "fid1;x"], Values(await GetAsync(Ada)));
        Assert.Equal(["fid1"], Values(await GetAsync(Bob)));
    }

    [Fact(Timeout = 30_000)]
    public async Task PutDeviceAsync_SameUpToTheBlank_IsTheSameAddress()
    {
        await PutAsync(Ada, Phone("p", Noon, Browser("https://a/b k1"), Browser("https://a/bc k1"), Browser("https://a/ k1")));

        var taken = await RegisterAsync(Bob, Phone("q", Noon, Browser("https://a/b k2")));
        await PutAsync(Bob, Phone("q", Noon, Browser("https://a/b k3")));

        Assert.Equal(["https://a/bc k1", "https://a/ k1"], Values(await GetAsync(Ada)));
        Assert.Equal(["https://a/b k3"], Values(await GetAsync(Bob)));
        Assert.Equal(("ada", "p", "webpush"), taken.Moved.Select(static moved => (moved.User, moved.Device, moved.Channel)).Single());
    }

    [Fact(Timeout = 30_000)]
    public async Task PutDeviceAsync_AppThatTakesCallsAsData_IsTheSameAddress()
    {
        await PutAsync(Ada, Phone("p", Noon, Fcm("token calls=data", "fid1:APA91")));
        await PutAsync(Bob, Phone("q", Noon, Fcm("token", "fid1:APA91")));
        Assert.Equal((0, 1), (Values(await GetAsync(Ada)).Count(), Values(await GetAsync(Bob)).Count()));

        await PutAsync(Ada, Phone("p", Noon, Fcm("fid calls=data", "fid1")));
        Assert.Equal((1, 0), (Values(await GetAsync(Ada)).Count(), Values(await GetAsync(Bob)).Count()));
        await PutAsync(Bob, Phone("q", Noon, Fcm("token calls=data", "fid1:APA92")));
        Assert.Equal((0, 1), (Values(await GetAsync(Ada)).Count(), Values(await GetAsync(Bob)).Count()));
    }

    [Fact(Timeout = 30_000)]
    public async Task PutDeviceAsync_Token_TakesAwayItsFid()
    {
        await PutAsync(Ada, Phone("p", Noon, Fcm("fid", "fid1"), Fcm("fid", "fid")));

        await PutAsync(Bob, Phone("q", Noon, Fcm("token", "fid1:APA91")));

        Assert.Equal(["fid"], Values(await GetAsync(Ada)));
    }

    [Fact(Timeout = 30_000)]
    public async Task RemoveAddressAsync_ConfirmedLater_StaysElseGoes()
    {
        var address = Apns("aa11");
        await PutAsync(Ada, Phone("phone-1", Noon, address));

        Assert.False(await RemoveAsync(Ada, "phone-1", address, Noon.AddTicks(-1)));
        Assert.False(await RemoveAsync(Ada, "phone-2", address, Noon));
        Assert.False(await RemoveAsync(Bob, "phone-1", address, Noon));
        Assert.Equal(["aa11"], Values(await GetAsync(Ada)));

        Assert.True(await RemoveAsync(Ada, "phone-1", address, Noon));
        Assert.False(await RemoveAsync(Ada, "phone-1", address, Noon));
        Assert.Empty(Assert.Single((await GetAsync(Ada)).Devices).Addresses);
    }

    [Fact(Timeout = 30_000)]
    public async Task FindRemovedAddressesAsync_TakenOffOrMoved_SaysWhichAndWhyUntilTheDeviceIsGone()
    {
        var address = Apns("aa11");
        await PutAsync(Ada, Phone("phone-1", Noon, address));
        await PutAsync(Ada, Phone("phone-2", Noon, Fcm("token", "t1")));
        await RemoveAsync(Ada, "phone-1", address, Noon);
        await RemoveAsync(Ada, "phone-1", address, Noon);
        var moved = TimeProvider.System.GetUtcNow();
        await PutAsync(Bob, Phone("phone-3", moved, Fcm("token", "t1")));
        await ReopenAsync();

        var removed = await Store.FindRemovedAddressesAsync(Ada, CancellationToken.None);

        Assert.Equal([("phone-1", "apns", "token", "Unregistered"), ("phone-2", "fcm", "", "moved")], removed.Select(static one => (one.Device, one.Channel, one.Kind, one.Reason!)));
        Assert.Equal(moved, removed[1].At);
        Assert.Empty(await Store.FindRemovedAddressesAsync(Bob, CancellationToken.None));
        await Store.DeleteDeviceAsync(Ada, "phone-1", CancellationToken.None);
        Assert.Equal("phone-2", Assert.Single(await Store.FindRemovedAddressesAsync(Ada, CancellationToken.None)).Device);
        await Store.DeleteUserAsync(Ada, CancellationToken.None);
        Assert.Empty(await Store.FindRemovedAddressesAsync(Ada, CancellationToken.None));
    }

    [Fact(Timeout = 30_000)]
    public async Task FindRemovedAddressesAsync_LongAgo_IsForgotten()
    {
        await PutAsync(Ada, Phone("phone-1", Noon, Apns("aa11")));
        await PutAsync(Bob, Phone("phone-2", TimeProvider.System.GetUtcNow() - Limits.RemovedAddressLife - TimeSpan.FromHours(1), Apns("aa11")));

        Assert.Empty(await Store.FindRemovedAddressesAsync(Ada, CancellationToken.None));
    }

    [Fact(Timeout = 30_000)]
    public async Task DeleteDeviceAsync_Known_TakesItsAddressesAlong()
    {
        await PutAsync(Ada, Phone("phone-1", Noon, Apns("aa11")));
        await GetAsync(Ada);

        Assert.True(await Store.DeleteDeviceAsync(Ada, "phone-1", CancellationToken.None));
        Assert.False(await Store.DeleteDeviceAsync(Ada, "phone-1", CancellationToken.None));

        Assert.Empty((await GetAsync(Ada)).Devices);
        await PutAsync(Bob, Phone("phone-2", Noon, Apns("aa11")));
        Assert.Equal(["aa11"], Values(await GetAsync(Bob)));
    }

    [Fact(Timeout = 30_000)]
    public async Task DeleteUserAsync_Known_TakesDevicesSettingsAndMembershipsOfThatUserAlone()
    {
        await PutAsync(Ada, Phone("phone-1", Noon, Apns("aa11")));
        await PutAsync(Ada, Phone("phone-2", Noon));
        await PutAsync(Bob, Phone("phone-1", Noon, Apns("bb22")));
        await Store.PutSettingsAsync(Ada, UserSettings.Default with { MutedClasses = ["bulk"] }, CancellationToken.None);
        foreach (var (topic, user) in ((string, string)[])[("room-1", "ada"), ("room-2", "ada"), ("room-1", "bob")])
        {
            await Store.AddMemberAsync(_app, topic, user, CancellationToken.None);
        }

        await GetAsync(Ada);
        await Store.GetMemberPageAsync(new TopicKey(_app, "room-1"), "", 10, CancellationToken.None);

        var removed = await Store.DeleteUserAsync(Ada, CancellationToken.None);
        Assert.Equal((2, "room-1 room-2"), (removed.Devices, string.Join(' ', removed.Topics)));
        Assert.Equal(0, (await Store.DeleteUserAsync(Ada, CancellationToken.None)).Devices);

        await CheckAsync();
        await ReopenAsync();
        await CheckAsync();
        await PutAsync(Bob, Phone("phone-2", Noon, Apns("aa11")));
        Assert.Equal(["aa11"], Values(await GetAsync(Bob)).Except(["bb22"]));

        async Task CheckAsync()
        {
            Assert.Empty((await GetAsync(Ada)).Devices);
            Assert.Empty((await GetAsync(Ada)).Settings.MutedClasses);
            Assert.Empty((await Store.FindTopicsAsync(Ada, CancellationToken.None)).Names);
            Assert.Equal(["bob"], (await Store.GetMemberPageAsync(new TopicKey(_app, "room-1"), "", 10, CancellationToken.None)).Users);
            Assert.NotEmpty((await GetAsync(Bob)).Devices);
        }
    }

    [Fact(Timeout = 30_000)]
    public async Task PutSettingsAsync_All_ComeBackAlsoAfterReopen()
    {
        var settings = new UserSettings
        {
            MutedClasses = ["bulk"],
            MutedTopics = ["room \"7\"", "Zürich", "a,b"],
            QuietHours = new QuietHours(new TimeOnly(22, 0), new TimeOnly(6, 30), "Europe/Berlin"),
            DoNotDisturbUntil = Noon.AddHours(1),
        };
        await GetAsync(Ada);

        await Store.PutSettingsAsync(Ada, settings, CancellationToken.None);
        await CheckAsync();
        await ReopenAsync();
        await CheckAsync();
        await Store.PutSettingsAsync(Ada, UserSettings.Default, CancellationToken.None);
        Assert.Equivalent(UserSettings.Default, (await GetAsync(Ada)).Settings, strict: true);

        async Task CheckAsync() => Assert.Equivalent(settings, (await GetAsync(Ada)).Settings, strict: true);
    }

    [Theory(Timeout = 30_000)]
    [InlineData(true)]
    [InlineData(false)]
    public async Task PutSettingsAsync_Mode_ComesBackWithAndWithoutQuietHours(bool hasHours)
    {
        var settings = new UserSettings
        {
            Mode = QuietMode.Drop,
            QuietHours = hasHours ? new QuietHours(new TimeOnly(0, 0), new TimeOnly(6, 30), "Europe/Berlin") : null,
            DoNotDisturbUntil = Noon.AddHours(1),
        };
        await Store.PutSettingsAsync(Ada, settings, CancellationToken.None);
        await ReopenAsync();
        Assert.Equivalent(settings, (await GetAsync(Ada)).Settings, strict: true);
        await Store.PutSettingsAsync(Ada, settings with { Mode = QuietMode.Hold }, CancellationToken.None);
        await ReopenAsync();
        Assert.Equivalent(settings with { Mode = QuietMode.Hold }, (await GetAsync(Ada)).Settings, strict: true);
    }

    [Fact(Timeout = 30_000)]
    public async Task Members_AddRemove_StreamInOrderOnce()
    {
        var users = Enumerable.Range(0, 600).Select(n => "u" + n.ToString("D4", CultureInfo.InvariantCulture)).ToArray();
        await Task.WhenAll(users.Reverse().Select(user => Store.AddMemberAsync(_app, "room", user, CancellationToken.None)));

        Assert.Equal(AddMemberResult.AlreadyThere, await Store.AddMemberAsync(_app, "room", "u0000", CancellationToken.None));
        Assert.True(await Store.RemoveMemberAsync(_app, "room", "u0001", CancellationToken.None));
        Assert.False(await Store.RemoveMemberAsync(_app, "room", "u0001", CancellationToken.None));
        Assert.Equal(AddMemberResult.Added, await Store.AddMemberAsync(_app, "other", "zed", CancellationToken.None));

        Assert.Equal(users.Where(user => user != "u0001"), await ListAsync(Store.GetMembersAsync(_app, "room", CancellationToken.None)));
        Assert.Empty(await ListAsync(Store.GetMembersAsync(_app, "nowhere", CancellationToken.None)));
        Assert.Equal(599, await Store.CountMembersAsync(new TopicKey(_app, "room"), CancellationToken.None));
        Assert.Equal(0, await Store.CountMembersAsync(new TopicKey(_app, "nowhere"), CancellationToken.None));

        var room = new TopicKey(_app, "room");
        var page = await Store.GetMemberPageAsync(room, "u0000", 100, CancellationToken.None);
        Assert.Equal(users[2..102], page.Users);
        Assert.False(page.IsLast);
        page = await Store.GetMemberPageAsync(room, "u0590", 100, CancellationToken.None);
        Assert.Equal(users[591..], page.Users);
        Assert.True(page.IsLast);
        page = await Store.GetMemberPageAsync(room, "u9", 100, CancellationToken.None);
        Assert.Empty(page.Users);
        Assert.True(page.IsLast);
    }

    [Fact(Timeout = 30_000)]
    public async Task FindTopicsAsync_AddedAndRemoved_AreTheUsersAlone()
    {
        Assert.False(Store.HasMembers);
        Assert.Empty((await Store.FindTopicsAsync(Ada, CancellationToken.None)).Names);
        await Store.PutSettingsAsync(Ada, new UserSettings { MutedTopics = ["a"] }, CancellationToken.None);
        await Store.PutSettingsAsync(new UserKey(_app, "nobody"), new UserSettings { MutedTopics = ["b"] }, CancellationToken.None);
        foreach (var topic in new[] { "room-7", "é", "a", "room-10" })
        {
            await Store.AddMemberAsync(_app, topic, Ada.User, CancellationToken.None);
        }

        await Store.AddMemberAsync(_app, "hall", "zed", CancellationToken.None);
        await Store.AddMemberAsync("another-app", "cellar", Ada.User, CancellationToken.None);
        await Store.RemoveMemberAsync(_app, "room-7", Ada.User, CancellationToken.None);
        for (var round = 0; round < 2; round++)
        {
            Assert.True(Store.HasMembers);
            var ada = await Store.FindTopicsAsync(Ada, CancellationToken.None);
            Assert.Equal(["a", "room-10", "é"], ada.Names);
            Assert.Equal(["a"], ada.Settings.MutedTopics);
            var zed = await Store.FindTopicsAsync(new UserKey(_app, "zed"), CancellationToken.None);
            Assert.Equal(["hall"], zed.Names);
            Assert.Empty(zed.Settings.MutedTopics);
            Assert.Empty((await Store.FindTopicsAsync(new UserKey(_app, "nobody"), CancellationToken.None)).Names);
            await ReopenAsync();
        }
    }

    [Fact(Timeout = 60_000)]
    public async Task AddMemberAsync_OverTheMostTopics_IsRefusedUntilOneIsLeft()
    {
        var topics = Enumerable.Range(0, Limits.TopicsPerUser).Select(static n => $"t{n}").ToArray();
        var added = await Task.WhenAll(topics.Select(topic => Store.AddMemberAsync(_app, topic, Ada.User, CancellationToken.None)));
        Assert.All(added, static result => Assert.Equal(AddMemberResult.Added, result));

        Assert.Equal(AddMemberResult.TooManyTopics, await Store.AddMemberAsync(_app, "one more", Ada.User, CancellationToken.None));
        Assert.Equal(AddMemberResult.AlreadyThere, await Store.AddMemberAsync(_app, "t0", Ada.User, CancellationToken.None));
        Assert.Equal(AddMemberResult.Added, await Store.AddMemberAsync(_app, "one more", "zed", CancellationToken.None));
        Assert.True(await Store.RemoveMemberAsync(_app, "t0", Ada.User, CancellationToken.None));
        Assert.Equal(AddMemberResult.Added, await Store.AddMemberAsync(_app, "one more", Ada.User, CancellationToken.None));
        Assert.Equal(Limits.TopicsPerUser, (await Store.FindTopicsAsync(Ada, CancellationToken.None)).Names.Count);
    }

    [Fact(Timeout = 30_000)]
    public async Task GetUsersAsync_KnownUnknownAndChanged_AreAsOneByOne()
    {
        await PutAsync(new UserKey(_app, "ada"), Phone("p1", Noon, Apns("a1")));
        await PutAsync(new UserKey(_app, "eve"), Phone("p2", Noon, Apns("a2")));
        for (var round = 0; round < 2; round++)
        {
            var users = await Store.GetUsersAsync(_app, ["eve", "nobody", "ada"], areHere: false, CancellationToken.None);
            Assert.Equal(["p2", null, "p1"], users.Select(static user => user.Devices.Count == 0 ? null : user.Devices[0].Id));
        }

        await PutAsync(new UserKey(_app, "eve"), Phone("p3", Noon, Apns("a3")));
        Assert.Equal(2, (await Store.GetUsersAsync(_app, ["eve"], areHere: false, CancellationToken.None))[0].Devices.Count);
        Assert.Empty(await Store.GetUsersAsync(_app, [], areHere: true, CancellationToken.None));
    }

    [Fact(Timeout = 60_000)]
    public async Task OddUnicode_Everywhere_RoundTripsAndStaysApart()
    {
        // Composed and decomposed, look-alikes and case are different ids; nothing is folded.
        string[] names = ["é", "e\u0301", "ß", "SS", "ss", "\U0001F469", "\u05D0\u05D1", "Å", "\u212B", "a'b", "100%", "ａ", "x y", "-", "日本"];
        foreach (var name in names)
        {
            Assert.Equal(PutDeviceResult.Created, await PutAsync(new UserKey(_app, name), Phone(name, Noon, Apns(name)) with { Locale = name }));
            Assert.Equal(AddMemberResult.Added, await Store.AddMemberAsync(_app, "é", name, CancellationToken.None));
        }

        await ReopenAsync();
        foreach (var name in names)
        {
            AssertSame(Phone(name, Noon, Apns(name)) with { Locale = name }, Assert.Single((await GetAsync(new UserKey(_app, name))).Devices));
        }

        var inOrder = names.OrderBy(name => Convert.ToHexString(Encoding.UTF8.GetBytes(name)), StringComparer.Ordinal).ToArray();
        Assert.Equal(inOrder, await ListAsync(Store.GetMembersAsync(_app, "é", CancellationToken.None)));
        Assert.Equal(inOrder, (await ListAsync(Store.ExportAsync(_app, CancellationToken.None))).Select(owned => owned.User));
    }

    [Fact(Timeout = 120_000)]
    public async Task PutDeviceAsync_TenThousandDevices_AreKeptAndOneMoreIsRefused()
    {
        var results = await Task.WhenAll(Enumerable.Range(0, Limits.DevicesPerUser).Select(n =>
            PutAsync(Ada, Phone(string.Create(CultureInfo.InvariantCulture, $"d{n:D5}"), Noon.AddSeconds(n), Apns(string.Create(CultureInfo.InvariantCulture, $"t{n}"))))));

        Assert.All(results, result => Assert.Equal(PutDeviceResult.Created, result));
        Assert.Equal(PutDeviceResult.TooManyDevices, await PutAsync(Ada, Phone("one-more", Noon, Apns("t0"))));
        Assert.Equal(PutDeviceResult.Updated, await PutAsync(Ada, Phone("d00005", Noon.AddSeconds(5), Apns("new"))));
        var devices = (await GetAsync(Ada)).Devices;
        Assert.Equal(Limits.DevicesPerUser, devices.Count);
        Assert.Equal("t0", Assert.Single(devices[0].Addresses).Value);
        Assert.Equal("new", Assert.Single(devices[5].Addresses).Value);
    }

    [Fact(Timeout = 30_000)]
    public async Task PutDeviceAsync_FewerAllowed_OneMoreIsRefusedButKnownOnesAreUpdated()
    {
        await PutAsync(Ada, Phone("a", Noon, Apns("1")));
        Assert.Equal(PutDeviceResult.Created, (await Store.PutDeviceAsync(Ada, Phone("b", Noon, Apns("2")), 2, moves: null, CancellationToken.None)).Result);
        Assert.Equal(PutDeviceResult.TooManyDevices, (await Store.PutDeviceAsync(Ada, Phone("c", Noon, Apns("1")), 2, moves: null, CancellationToken.None)).Result);
        Assert.Equal(PutDeviceResult.Updated, (await Store.PutDeviceAsync(Ada, Phone("b", Noon, Apns("3")), 1, moves: null, CancellationToken.None)).Result);
        Assert.Equal(PutDeviceResult.Created, await PutAsync(Ada, Phone("c", Noon, Apns("4"))));
        Assert.Equal(["1", "3", "4"], (await GetAsync(Ada)).Devices.SelectMany(device => device.Addresses).Select(address => address.Value));
    }

    [Fact(Timeout = 60_000)]
    public async Task PutDeviceAsync_OneAddressRacedByMany_IsOneDevicesAndTheOthersLostIt()
    {
        var users = Enumerable.Range(0, 32).Select(n => new UserKey(_app, string.Create(CultureInfo.InvariantCulture, $"u{n}"))).ToArray();
        var registered = await Task.WhenAll(users.Select(user => Task.Run(() => RegisterAsync(user, Phone("d", Noon, Apns("raced"))))));

        var holders = new List<string>();
        foreach (var user in users)
        {
            holders.AddRange((await GetAsync(user)).Devices.Where(static device => device.Addresses.Count > 0).Select(_ => user.User));
        }

        var lost = registered.SelectMany(static one => one.Moved).Select(static moved => moved.User).ToList();
        Assert.Equal(31, lost.Count);
        Assert.Equal(users.Select(static user => user.User).Except(lost), holders);
    }

    [Fact(Timeout = 60_000)]
    public async Task PutDeviceAsync_LastPlaceRacedByMany_IsOnes()
    {
        var results = await Task.WhenAll(Enumerable.Range(0, 32).Select(n => Task.Run(async () =>
            (await Store.PutDeviceAsync(Ada, Phone(string.Create(CultureInfo.InvariantCulture, $"d{n}"), Noon), 1, moves: null, CancellationToken.None)).Result)));

        Assert.Single(results, static result => result == PutDeviceResult.Created);
        Assert.Single((await GetAsync(Ada)).Devices);
    }

    [Fact(Timeout = 60_000)]
    public async Task ExportAsync_OfAnApp_StreamsEveryDeviceOnceInOrder()
    {
        await Task.WhenAll(Enumerable.Range(0, 700).Select(n => PutAsync(
            new UserKey(_app, string.Create(CultureInfo.InvariantCulture, $"u{n / 3:D4}")),
            Phone(string.Create(CultureInfo.InvariantCulture, $"d{n % 3}"), Noon, Apns(string.Create(CultureInfo.InvariantCulture, $"x{n}")), Fcm("token", string.Create(CultureInfo.InvariantCulture, $"y{n}"))))));
        await PutAsync(new UserKey(_app + "-b", "stranger"), Phone("d", Noon));

        var exported = await ListAsync(Store.ExportAsync(_app, CancellationToken.None));

        Assert.Equal(Enumerable.Range(0, 700).Select(n => (string.Create(CultureInfo.InvariantCulture, $"u{n / 3:D4}"), string.Create(CultureInfo.InvariantCulture, $"d{n % 3}"))), exported.Select(owned => (owned.User, owned.Device.Id)));
        Assert.All(exported, owned => Assert.Equal(2, owned.Device.Addresses.Count));
    }

    [Fact(Timeout = 60_000)]
    public async Task ExportAsync_WrittenMeanwhile_StaysInOrderWithoutTwins()
    {
        await Task.WhenAll(Enumerable.Range(0, 600).Select(n => PutAsync(User(n), Phone("d", Noon))));

        var seen = new List<string>();
        await foreach (var owned in Store.ExportAsync(_app, CancellationToken.None))
        {
            seen.Add(owned.User);
            if (seen.Count == 100)
            {
                await PutAsync(User(0), Phone("d", Noon.AddDays(1)));
                await Store.DeleteDeviceAsync(User(599), "d", CancellationToken.None);
                await PutAsync(User(598), Phone("late", Noon));
            }
        }

        Assert.Equal(600, seen.Count);
        Assert.Equal(seen.Order(StringComparer.Ordinal), seen);

        UserKey User(int n) => new(_app, string.Create(CultureInfo.InvariantCulture, $"u{n:D4}"));
    }

    [Fact(Timeout = 60_000)]
    public async Task GetUserAsync_UnderParallelWrites_NeverOlderThanACompletedWrite()
    {
        // One address goes round four users. A reader that starts after a move completed must see at least that state.
        var users = Enumerable.Range(0, 4).Select(n => new UserKey(_app, string.Create(CultureInfo.InvariantCulture, $"u{n}"))).ToArray();
        var written = new long[users.Length];
        using var stop = new CancellationTokenSource();
        var readers = Enumerable.Range(0, 4).Select(n => Task.Run(async () =>
        {
            var checks = 0;
            for (var i = n; !stop.IsCancellationRequested || checks == 0; i++)
            {
                var u = i % users.Length;
                var least = Volatile.Read(ref written[u]);
                var devices = (await Store.GetUserAsync(users[u], CancellationToken.None)).Devices;
                var found = devices.Count == 0 ? 0 : long.Parse(devices[0].AppVersion!, CultureInfo.InvariantCulture);
                Assert.True(found >= least, $"read {found} after {least} was written");
                checks++;
                await Task.Yield();
            }
        })).ToArray();

        for (var version = 1; version <= 400; version++)
        {
            var u = version % users.Length;
            await PutAsync(users[u], Phone("d", Noon, Apns("round")) with { AppVersion = version.ToString(CultureInfo.InvariantCulture) });
            Volatile.Write(ref written[u], version);
            var before = users[(u + users.Length - 1) % users.Length];
            Assert.DoesNotContain("round", Values(await GetAsync(before)));
        }

        await stop.CancelAsync();
        await Task.WhenAll(readers);
    }

    [Fact(Timeout = 30_000)]
    public async Task Members_CancelledToken_Throws()
    {
        using var cancelled = new CancellationTokenSource();
        await cancelled.CancelAsync();

        await Assert.ThrowsAnyAsync<OperationCanceledException>(() => Store.AddMemberAsync(_app, "room", "ada", cancelled.Token));
        Assert.Empty(await ListAsync(Store.GetMembersAsync(_app, "room", CancellationToken.None)));
    }

    private static Device Phone(string id, DateTimeOffset at, params PushAddress[] addresses) =>
        new() { Id = id, Platform = Platform.Ios, RegisteredAt = at, Addresses = addresses };

    private static PushAddress Apns(string value) => new("apns", "token", value, "production/com.example", Noon);

    private static PushAddress Browser(string value) => new("webpush", "subscription", value, "", Noon);

    private static PushAddress Fcm(string kind, string value) => new("fcm", kind, value, "", Noon);

    private static IEnumerable<string> Values(UserSnapshot user) => user.Devices.SelectMany(device => device.Addresses).Select(address => address.Value);

    private static void AssertSame(Device expected, Device actual)
    {
        Assert.Equal(expected.Addresses, actual.Addresses);
        Assert.Equal(expected with { Addresses = [] }, actual with { Addresses = [] });
    }

    private static async Task<List<T>> ListAsync<T>(IAsyncEnumerable<T> items)
    {
        var list = new List<T>();
        await foreach (var item in items)
        {
            list.Add(item);
        }

        return list;
    }

    private async Task<UserSnapshot> GetAsync(UserKey user) => await Store.GetUserAsync(user, CancellationToken.None);

    private async Task<PutDeviceResult> PutAsync(UserKey user, Device device) => (await RegisterAsync(user, device)).Result;

    private Task<Registration> RegisterAsync(UserKey user, Device device) => Store.PutDeviceAsync(user, device, CancellationToken.None);

    private Task<bool> RemoveAsync(UserKey user, string device, PushAddress address, DateTimeOffset deadSince) =>
        Store.RemoveAddressAsync(user, device, address, deadSince, "Unregistered", CancellationToken.None);

    protected async Task ReopenAsync()
    {
        await CloseAsync();
        Store = await OpenAsync();
    }
}
