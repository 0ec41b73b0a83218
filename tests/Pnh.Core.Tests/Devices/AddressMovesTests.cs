using Pnh.Core.Stores;
using Pnh.Core.Users;
using Pnh.Storage.Registry;
using Pnh.TestKit;

namespace Pnh.Core.Tests.Devices;

/// <summary>How many addresses may change hands, in the registry itself.</summary>
public sealed class AddressMovesTests : IAsyncDisposable
{
    private readonly TemporaryFolder _folder = new();
    private readonly FakeTimeProvider _time = new();
    private readonly SqliteDeviceStore _store;
    private readonly AddressMoves _moves;

    public AddressMovesTests()
    {
        _store = SqliteDeviceStore.Open(_folder.FullPath, _time);
        _moves = new AddressMoves(3, _time);
    }

    public async ValueTask DisposeAsync()
    {
        await _store.DisposeAsync();
        _folder.Dispose();
    }

    [Fact(Timeout = 30_000)]
    public async Task PutDeviceAsync_FourthTakenWithinTheHour_IsRefusedAndNothingIsWritten()
    {
        await GiveAsync(4);
        for (var i = 0; i < 3; i++)
        {
            Assert.Equal(PutDeviceResult.Created, (await PutAsync("mallory", $"d{i}", $"t{i}")).Result);
        }

        _time.Advance(TimeSpan.FromMinutes(20));
        var refused = await PutAsync("mallory", "d3", "t3");

        Assert.Equal((PutDeviceResult.TooManyMoves, TimeSpan.FromMinutes(40)), (refused.Result, refused.RetryAfter));
        Assert.Empty(refused.Moved);
        Assert.Equal(["t3"], await AddressesAsync("u3"));
        Assert.Equal(3, (await _store.GetUserAsync(User("mallory"), CancellationToken.None)).Devices.Count);

        _time.Advance(TimeSpan.FromMinutes(40));
        Assert.Equal(PutDeviceResult.Created, (await PutAsync("mallory", "d3", "t3")).Result);
        Assert.Empty(await AddressesAsync("u3"));
    }

    [Fact(Timeout = 30_000)]
    public async Task PutDeviceAsync_ManyAtOnce_OnlyAsManyTake()
    {
        await GiveAsync(20);

        var all = await Task.WhenAll(Enumerable.Range(0, 20).Select(i => PutAsync("mallory", $"d{i}", $"t{i}")));

        Assert.Equal(3, all.Count(static one => one.Result == PutDeviceResult.Created));
        Assert.Equal(17, all.Count(static one => one.Result == PutDeviceResult.TooManyMoves));
    }

    [Fact(Timeout = 30_000)]
    public async Task PutDeviceAsync_SeveralTakeFromOneInTurn_WhoRegistersAgainKeepsIt()
    {
        await PutAsync("ada", "phone", "hers");
        var last = PutDeviceResult.Created;
        for (var i = 0; i < 10; i++)
        {
            last = (await PutAsync($"m{i}", "phone", "hers")).Result;
            Assert.Equal(PutDeviceResult.Updated, (await PutAsync("ada", "phone", "hers")).Result);
        }

        Assert.Equal(PutDeviceResult.TooManyMoves, last);
        Assert.Equal(["hers"], await AddressesAsync("ada"));
    }

    [Fact(Timeout = 30_000)]
    public async Task PutDeviceAsync_OwnDevicesAndFreeAddresses_AreNotCounted()
    {
        for (var i = 0; i < 10; i++)
        {
            Assert.Equal(PutDeviceResult.Created, (await PutAsync("ada", $"d{i}", "same")).Result);
            Assert.Equal(PutDeviceResult.Updated, (await PutAsync("ada", $"d{i}", "same", $"t{i}")).Result);
        }

        Assert.Equal(0, _moves.Users);
    }

    [Fact(Timeout = 30_000)]
    public async Task PutDeviceAsync_SignedOutFirst_IsNotCounted()
    {
        for (var i = 0; i < 10; i++)
        {
            Assert.Equal(PutDeviceResult.Created, (await PutAsync($"u{i % 2}", "phone", "same")).Result);
            await _store.DeleteDeviceAsync(User($"u{i % 2}"), "phone", CancellationToken.None);
        }
    }

    [Fact(Timeout = 30_000)]
    public async Task PutDeviceAsync_FcmFormsOfOneInstallation_CountAsOne()
    {
        await PutAsync(User("ada"), "phone", new PushAddress("fcm", "token", "fid1:APA91", "", _time.GetUtcNow()));
        await PutAsync("ada", "other", "bb");

        var fid = new PushAddress("fcm", "fid", "fid1", "", _time.GetUtcNow());
        Assert.Equal(PutDeviceResult.Created, (await PutAsync(User("bob"), "phone", fid, Apns("bb"))).Result);
        Assert.Equal(PutDeviceResult.Updated, (await PutAsync(User("bob"), "phone", fid, Apns("bb"))).Result);
        await PutAsync("ada", "phone", "cc");

        // One so far: two more may be taken.
        Assert.Equal(PutDeviceResult.Created, (await PutAsync("bob", "d1", "cc")).Result);
        await PutAsync("eve", "phone", "dd");
        Assert.Equal(PutDeviceResult.Created, (await PutAsync("bob", "d2", "dd")).Result);
        await PutAsync("eve", "phone", "ee");
        Assert.Equal(PutDeviceResult.TooManyMoves, (await PutAsync("bob", "d3", "ee")).Result);
    }

    [Fact(Timeout = 30_000)]
    public async Task PutDeviceAsync_GroupRunsAgain_IsCountedOnce()
    {
        await GiveAsync(4);
        for (var i = 0; i < 3; i++)
        {
            using var gate = new ManualResetEventSlim();
            var held = _store.Engine.Writer.WriteAsync(_ => gate.Wait(TimeSpan.FromSeconds(20)));
            var mine = PutAsync("bob", $"d{i}", $"t{i}");

            // Behind it in the same group: all of that runs a second time.
            var broken = _store.Engine.Writer.WriteAsync<bool>(static _ => throw new InvalidOperationException("broken"));
            gate.Set();
            await held;
            await Assert.ThrowsAsync<InvalidOperationException>(() => broken);
            Assert.Equal(PutDeviceResult.Created, (await mine).Result);
        }

        Assert.Equal(PutDeviceResult.TooManyMoves, (await PutAsync("bob", "d3", "t3")).Result);
    }

    [Fact(Timeout = 30_000)]
    public async Task PutDeviceAsync_DiskIsFull_IsNotCounted()
    {
        await GiveAsync(3);
        var tooLong = new string('x', 4_000_000);
        await _store.Engine.Writer.WriteAsync(static database => database.Scalar("PRAGMA max_page_count=1"));
        for (var i = 0; i < 5; i++)
        {
            await Assert.ThrowsAsync<StoreUnavailableException>(() => PutAsync("bob", "phone", "t0", tooLong));
        }

        await _store.Engine.Writer.WriteAsync(static database => database.Scalar("PRAGMA max_page_count=1000000"));
        Assert.Equal(PutDeviceResult.Created, (await PutAsync("bob", "phone", "t0")).Result);
        Assert.Equal(PutDeviceResult.Updated, (await PutAsync("bob", "phone", "t0", "t1")).Result);
        Assert.Equal(PutDeviceResult.Updated, (await PutAsync("bob", "phone", "t0", "t1", "t2")).Result);
    }

    [Fact(Timeout = 30_000)]
    public async Task Users_HourOver_AreForgotten()
    {
        await GiveAsync(500);
        for (var i = 0; i < 500; i++)
        {
            await PutAsync($"taker{i}", "phone", $"t{i}");
        }

        Assert.Equal(1_000, _moves.Users);
        _time.Advance(TimeSpan.FromHours(1));

        Assert.Equal(0, _moves.Users);
    }

    [Fact(Timeout = 30_000)]
    public async Task PutDeviceAsync_WithoutBound_TakesAnything()
    {
        await GiveAsync(10);
        var any = new AddressMoves(0, _time);
        for (var i = 0; i < 10; i++)
        {
            var moves = i % 2 == 0 ? null : any;
            Assert.Single((await _store.PutDeviceAsync(User("shop"), Phone($"d{i}", Apns($"t{i}")), 100, moves, CancellationToken.None)).Moved);
        }

        Assert.Equal(0, any.Users);
    }

    private async Task GiveAsync(int users) => await Task.WhenAll(Enumerable.Range(0, users).Select(
        i => _store.PutDeviceAsync(User($"u{i}"), Phone("phone", Apns($"t{i}")), CancellationToken.None)));

    private Task<Registration> PutAsync(string user, string device, params string[] tokens) => PutAsync(User(user), device, [.. tokens.Select(Apns)]);

    private Task<Registration> PutAsync(UserKey user, string device, params PushAddress[] addresses) =>
        _store.PutDeviceAsync(user, Phone(device, addresses), 100, _moves, CancellationToken.None);

    private async Task<IEnumerable<string>> AddressesAsync(string user) =>
        (await _store.GetUserAsync(User(user), CancellationToken.None)).Devices.SelectMany(static device => device.Addresses).Select(static address => address.Value);

    private Device Phone(string id, params PushAddress[] addresses) =>
        new() { Id = id, Platform = Platform.Ios, RegisteredAt = _time.GetUtcNow(), Addresses = addresses };

    private PushAddress Apns(string token) => new("apns", "token", token, "", _time.GetUtcNow());

    private static UserKey User(string user) => new("demo", user);
}
