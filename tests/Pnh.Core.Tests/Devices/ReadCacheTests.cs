using System.Globalization;
using Pnh.Core.Users;
using Pnh.Storage.Registry;

namespace Pnh.Core.Tests.Devices;

public sealed class ReadCacheTests
{
    private static readonly UserSnapshot Snapshot = new([], UserSettings.Default);

    [Fact]
    public void Fill_WrittenSinceTheReadBegan_IsNotKept()
    {
        var cache = new ReadCache<UserKey, UserSnapshot>(100, static _ => 1);
        var ticket = cache.StartRead(User(1));
        cache.Forget(User(1));

        cache.Fill(User(1), Snapshot, ticket);

        Assert.False(cache.TryGet(User(1), out _));
    }

    [Fact]
    public void Fill_MoreThanTheBound_KeepsTheBoundAndWhatIsRead()
    {
        var cache = new ReadCache<UserKey, UserSnapshot>(100, static _ => 1);
        cache.Fill(User(0), Snapshot, cache.StartRead(User(0)));
        for (var n = 1; n < 10_000; n++)
        {
            cache.Fill(User(n), Snapshot, cache.StartRead(User(n)));
            Assert.True(cache.TryGet(User(0), out _));
            Assert.InRange(cache.Weight, 1, 202);
        }

        Assert.False(cache.TryGet(User(1), out _));
        Assert.True(cache.TryGet(User(9_999), out _));
    }

    [Fact]
    public void Forget_InTheOldGeneration_IsGone()
    {
        var cache = new ReadCache<UserKey, UserSnapshot>(10, static _ => 1);
        for (var n = 0; n < 12; n++)
        {
            cache.Fill(User(n), Snapshot, cache.StartRead(User(n)));
        }

        cache.Forget(User(3));

        Assert.False(cache.TryGet(User(3), out _));
        Assert.True(cache.TryGet(User(4), out _));
    }

    private static UserKey User(int n) => new("demo", n.ToString(CultureInfo.InvariantCulture));
}
