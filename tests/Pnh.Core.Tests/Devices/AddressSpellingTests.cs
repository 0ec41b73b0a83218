using Pnh.Core.Stores;
using Pnh.Core.Users;
using Pnh.Storage.Registry;
using Pnh.TestKit;

namespace Pnh.Core.Tests.Devices;

/// <summary>Browsers' addresses that older builds kept as they came: the next start brings them into the one spelling. Upper case stands for the other spelling here.</summary>
public sealed class AddressSpellingTests : IDisposable
{
    private static readonly DateTimeOffset Noon = new(2026, 5, 1, 12, 0, 0, TimeSpan.Zero);
    private readonly TemporaryFolder _folder = new();
    private readonly FakeTimeProvider _time = new(Noon.AddDays(1));

    public void Dispose() => _folder.Dispose();

    [Fact(Timeout = 30_000)]
    public async Task Open_TwinsOfOneEndpoint_TheNewestRegistrationHasIt()
    {
        await using (var before = Open(isOlder: true))
        {
            await PutAsync(before, "ada", "old", "HTTPS://A/B k1", Noon);
            await PutAsync(before, "bob", "new", "https://a/b k2", Noon.AddMinutes(2));
            await PutAsync(before, "cyd", "middle", "https://A/b k1", Noon.AddMinutes(1));
            await PutAsync(before, "dan", "other", "HTTPS://A/BC k1", Noon);
        }

        await using var store = Open();
        Assert.Equal(["", "https://a/b k2", "", "https://a/bc k1"], await Task.WhenAll(ValueAsync(store, "ada"), ValueAsync(store, "bob"), ValueAsync(store, "cyd"), ValueAsync(store, "dan")));
        foreach (var (user, device) in new[] { ("ada", "old"), ("cyd", "middle") })
        {
            var removed = Assert.Single(await store.FindRemovedAddressesAsync(User(user), CancellationToken.None));
            Assert.Equal((device, "webpush", "moved", _time.GetUtcNow()), (removed.Device, removed.Channel, removed.Reason, removed.At));
        }

        Assert.Empty(await store.FindRemovedAddressesAsync(User("bob"), CancellationToken.None));
    }

    [Fact(Timeout = 60_000)]
    public async Task Open_MoreThanAPage_BringsAllAndThenNothing()
    {
        await using (var before = Open(isOlder: true))
        {
            await Task.WhenAll(Enumerable.Range(0, 2100).Select(i => PutAsync(before, $"u{i}", "d", $"HTTPS://A/{i} k", Noon)));
        }

        var asked = 0;
        await using (var store = Open(onAsked: () => asked++))
        {
            var all = new List<string>();
            await foreach (var owned in store.ExportAsync("demo", CancellationToken.None))
            {
                all.Add(Assert.Single(owned.Device.Addresses).Value);
            }

            Assert.Equal((2100, 2100), (asked, all.Distinct().Count(static value => value.StartsWith("https://a/", StringComparison.Ordinal))));
        }

        // An older build was started in between.
        await using (var before = Open(isOlder: true))
        {
            await PutAsync(before, "u7", "d", "HTTPS://A/7 k2", Noon.AddDays(1));
        }

        await using (var store = Open(onAsked: () => asked++))
        {
            Assert.Equal((2101, "https://a/7 k2"), (asked, await ValueAsync(store, "u7")));
        }
    }

    private static UserKey User(string user) => new("demo", user);

    private static Task<Registration> PutAsync(SqliteDeviceStore store, string user, string device, string value, DateTimeOffset at) => store.PutDeviceAsync(
        User(user),
        new Device { Id = device, Platform = Platform.Web, RegisteredAt = at, Addresses = [new PushAddress("webpush", "subscription", value, "", at)] },
        CancellationToken.None);

    private static async Task<string> ValueAsync(SqliteDeviceStore store, string user) =>
        Assert.Single((await store.GetUserAsync(User(user), CancellationToken.None)).Devices).Addresses is [{ Value: var value }] ? value : "";

    private SqliteDeviceStore Open(bool isOlder = false, Action? onAsked = null) => SqliteDeviceStore.Open(_folder.FullPath, _time, respell: isOlder ? null : address =>
    {
        onAsked?.Invoke();
        return address.Scope.Length == 0 ? address with { Value = address.Value.ToLowerInvariant(), Scope = "canonical" } : null;
    });
}
