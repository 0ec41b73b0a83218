using System.Globalization;
using System.Security.Cryptography;
using System.Text;
using Pnh.Core.Stores;

namespace Pnh.Core.Tests.Devices;

/// <summary>What every store of publishers' keys must do. An engine's test class says how to open it; apps are unique per test, so engines may share one database.</summary>
public abstract class PublisherKeyStoreSpecification : IAsyncLifetime
{
    private static readonly DateTimeOffset Noon = new(2026, 5, 1, 12, 0, 0, TimeSpan.Zero);
    private static int _apps;

    private readonly string _app = string.Create(CultureInfo.InvariantCulture, $"app-{Environment.ProcessId}-{Interlocked.Increment(ref _apps)}");

    protected IPublisherKeyStore Keys { get; private set; } = null!;

    public async Task InitializeAsync() => Keys = await OpenAsync();

    public Task DisposeAsync() => CloseAsync();

    protected abstract Task<IPublisherKeyStore> OpenAsync();

    protected abstract Task CloseAsync();

    [Fact(Timeout = 30_000)]
    public async Task AddAsync_WholeKey_ComesBackEqualAlsoAfterReopen()
    {
        var key = KeyOf("a", Noon.AddTicks(7)) with { Scopes = ["send", "read"] };
        await AddAsync(key);
        AssertSame([key], await LoadAsync());

        await CloseAsync();
        Keys = await OpenAsync();
        AssertSame([key], await LoadAsync());
    }

    [Fact(Timeout = 30_000)]
    public async Task AddAsync_HashIsThere_ReplacesIt()
    {
        await AddAsync(KeyOf("a", Noon));
        var second = KeyOf("a", Noon.AddDays(1)) with { Scopes = ["admin"] };
        await AddAsync(second);
        await AddAsync(second);

        AssertSame([second], await LoadAsync());
    }

    [Fact(Timeout = 30_000)]
    public async Task LoadAsync_Several_OldestFirst()
    {
        StoredKey[] keys = [KeyOf("c", Noon.AddHours(2)), KeyOf("a", Noon), KeyOf("b", Noon.AddHours(1))];
        foreach (var key in keys)
        {
            await AddAsync(key);
        }

        AssertSame([keys[1], keys[2], keys[0]], await LoadAsync());
    }

    [Fact(Timeout = 30_000)]
    public async Task RemoveAsync_OneOfTwo_ForgetsThatOneForGood()
    {
        var (gone, kept) = (KeyOf("a", Noon), KeyOf("b", Noon));
        await AddAsync(gone);
        await AddAsync(kept);

        Assert.True(await Keys.RemoveAsync(gone.Hash, CancellationToken.None));
        Assert.False(await Keys.RemoveAsync(gone.Hash, CancellationToken.None));
        AssertSame([kept], await LoadAsync());

        await CloseAsync();
        Keys = await OpenAsync();
        AssertSame([kept], await LoadAsync());
    }

    [Fact(Timeout = 30_000)]
    public async Task AddAsync_NoHash_IsRefused()
    {
        var key = KeyOf("a", Noon) with { Hash = Encoding.UTF8.GetBytes("pnh_verysecret") };

        await Assert.ThrowsAsync<ArgumentException>(() => AddAsync(key));
        Assert.Empty(await LoadAsync());
    }

    [Fact(Timeout = 60_000)]
    public async Task AddAsync_ManyAtOnce_AllAreThere()
    {
        var keys = Enumerable.Range(0, 64).Select(n => KeyOf(n.ToString(CultureInfo.InvariantCulture), Noon.AddMinutes(n))).ToArray();
        await Task.WhenAll(keys.Select(key => Task.Run(() => AddAsync(key))));

        AssertSame(keys, await LoadAsync());
    }

    private Task AddAsync(StoredKey key) => Keys.AddAsync(key, CancellationToken.None);

    private async Task<IEnumerable<StoredKey>> LoadAsync() => (await Keys.LoadAsync(CancellationToken.None)).Where(key => key.App == _app);

    private StoredKey KeyOf(string secret, DateTimeOffset at) => new(_app, SHA256.HashData(Encoding.UTF8.GetBytes(_app + secret)), ["send"], at);

    private static void AssertSame(IEnumerable<StoredKey> expected, IEnumerable<StoredKey> given) => Assert.Equal(expected.Select(Text), given.Select(Text));

    private static string Text(StoredKey key) => $"{key.App} {Convert.ToHexString(key.Hash.Span)} {string.Join(' ', key.Scopes)} {key.CreatedAt:O}";
}
