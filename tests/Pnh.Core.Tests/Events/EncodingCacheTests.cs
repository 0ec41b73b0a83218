using Pnh.Core.Events;

namespace Pnh.Core.Tests.Events;

public sealed class EncodingCacheTests
{
    [Fact]
    public void GetOrAdd_SameShape_EncodesOnce()
    {
        var cache = new EncodingCache();
        var made = 0;
        var first = cache.GetOrAdd("a", 0, _ => { made++; return new byte[1]; });
        Assert.Same(first, cache.GetOrAdd("a", 0, _ => { made++; return new byte[2]; }));
        Assert.NotSame(first, cache.GetOrAdd("b", 0, _ => { made++; return new byte[3]; }));
        Assert.Equal(2, made);
    }

    [Fact]
    public void GetOrAdd_SameShapeOtherType_KeepsBoth()
    {
        var cache = new EncodingCache();
        var bytes = cache.GetOrAdd("a", 0, static _ => new byte[1]);
        Assert.Equal("text", cache.GetOrAdd("a", 0, static _ => "text"));
        Assert.Same(bytes, cache.GetOrAdd("a", 0, static _ => new byte[1]));
    }

    [Fact]
    public void GetOrAdd_InParallel_EverybodySeesTheSameValue()
    {
        for (var round = 0; round < 200; round++)
        {
            var cache = new EncodingCache();
            var seen = new object[8 * 4];
            Parallel.For(0, seen.Length, i => seen[i] = cache.GetOrAdd($"shape-{i % 4}", 0, static _ => new object()));
            for (var i = 0; i < seen.Length; i++)
            {
                Assert.Same(seen[i % 4], seen[i]);
            }

            Assert.Equal(4, seen.Distinct().Count());
        }
    }
}
