using Pnh.Core.Events;
using Pnh.Core.Stores;
using Pnh.Core.Users;
using Pnh.Storage.Registry;
using Pnh.TestKit;

namespace Pnh.Core.Tests.Storage;

/// <summary>Receipts of erasures: one that was cut, two beside each other, one too many, and their end.</summary>
public sealed class SqliteErasuresTests : IAsyncDisposable
{
    private static readonly UserKey Bea = new("demo", "bea");
    private static readonly ErasedParts Nothing = new(0, 0, 0, 0, null);
    private readonly TemporaryFolder _folder = new();
    private readonly FakeTimeProvider _time = new(new DateTimeOffset(2026, 11, 28, 6, 0, 0, TimeSpan.Zero));
    private SqliteDeviceStore _store;

    public SqliteErasuresTests() => _store = SqliteDeviceStore.Open(_folder.FullPath, _time);

    public async ValueTask DisposeAsync()
    {
        await _store.DisposeAsync();
        _folder.Dispose();
    }

    [Fact]
    public async Task Begin_OneWasCut_GoesOnUnderItsIdAndKeepsOutFromNowOn()
    {
        var cut = await BeginAsync();
        _time.Advance(TimeSpan.FromMinutes(5));
        await ReopenAsync();
        Assert.Null(await _store.Erasures.FindAsync("demo", cut.Id, default));
        Assert.Equal(cut.Barrier, _store.Erasures.FindBarrier(Bea));

        var again = await BeginAsync();
        var receipt = await EndAsync(again, new ErasedParts(0, 0, 0, 0, null));

        Assert.Equal((cut.Id, cut.At), (receipt.Id, receipt.At));
        Assert.Equal(_time.GetUtcNow(), _store.Erasures.FindBarrier(Bea));
    }

    [Fact]
    public async Task End_TwoBesideEachOther_AddWhatEachFound()
    {
        var (one, other) = (await BeginAsync(), await BeginAsync());

        await EndAsync(other, new ErasedParts(1, 2, 0, 3, _time.GetUtcNow()));
        var receipt = await EndAsync(one, new ErasedParts(0, 0, 1, 0, null));

        Assert.Equal(new ErasedParts(1, 2, 1, 3, _time.GetUtcNow()), receipt.Parts);
        Assert.Equal(receipt, await EndAsync(one, Nothing));
    }

    [Fact]
    public async Task End_NothingFoundBesideAnother_LosesNoReceipt()
    {
        var earlier = await EndAsync(await BeginAsync(), new ErasedParts(1, 0, 0, 0, null));
        var (one, other) = (await BeginAsync(), await BeginAsync());

        Assert.Equal(earlier, await EndAsync(one, Nothing));
        var late = await EndAsync(other, new ErasedParts(0, 0, 1, 0, null));

        Assert.Equal(late, await _store.Erasures.FindAsync("demo", late.Id, default));
        Assert.Equal(earlier, await _store.Erasures.FindAsync("demo", earlier.Id, default));
    }

    [Fact]
    public async Task End_NothingFoundAgain_KeepsTokensOutUntilThen()
    {
        var first = await EndAsync(await BeginAsync(), new ErasedParts(1, 0, 0, 0, null));
        _time.Advance(TimeSpan.FromHours(1));

        Assert.Equal(first, await EndAsync(await BeginAsync(), Nothing));

        await ReopenAsync();
        Assert.Equal(_time.GetUtcNow(), _store.Erasures.FindBarrier(Bea));
        Assert.Null(_store.Erasures.FindBarrier(new UserKey("shop", "bea")));
    }

    [Fact]
    public async Task Find_AnotherApp_HasNone()
    {
        var receipt = await EndAsync(await BeginAsync(), Nothing);

        Assert.Null(await _store.Erasures.FindAsync("shop", receipt.Id, default));
        Assert.Null(await _store.Erasures.FindAsync("demo", "no-such", default));
    }

    [Fact]
    public async Task Tidy_AfterItsLife_TheReceiptIsGone()
    {
        var receipt = await EndAsync(await BeginAsync(), Nothing);
        _time.Advance(Limits.ErasureLife + TimeSpan.FromHours(2));

        // Two writes: the first one's turn looks for what is over.
        await _store.PutSettingsAsync(new UserKey("demo", "eve"), UserSettings.Default, default);
        await _store.PutSettingsAsync(new UserKey("demo", "eve"), UserSettings.Default, default);

        Assert.Null(await _store.Erasures.FindAsync("demo", receipt.Id, default));
        Assert.Null(_store.Erasures.FindBarrier(Bea));
    }

    private Task<StartedErasure> BeginAsync() => _store.Erasures.BeginAsync(Bea, default);

    private Task<ErasureReceipt> EndAsync(StartedErasure started, ErasedParts found) => _store.Erasures.EndAsync(started, found, default);

    private async Task ReopenAsync()
    {
        await _store.DisposeAsync();
        _store = SqliteDeviceStore.Open(_folder.FullPath, _time);
    }
}
