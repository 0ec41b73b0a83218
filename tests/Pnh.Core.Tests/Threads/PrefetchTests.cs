using Pnh.Core.Threads;

namespace Pnh.Core.Tests.Threads;

public sealed class PrefetchTests
{
    [Theory]
    [InlineData(0)]
    [InlineData(1)]
    [InlineData(100_000)]
    public void Object_AnyAddress_NeverFaults(int lines)
    {
        Prefetch.Object(null, lines);
        var text = new string('x', 3);
        Prefetch.Object(text, lines); // most of it is not the process's own
        Assert.Equal("xxx", text);
    }

    [Fact]
    public void Item_AnyPlaceOfAnArray_ChangesNothing()
    {
        var items = new (long, long, long)[64];
        foreach (ref readonly var item in items.AsSpan())
        {
            Prefetch.Item(in item);
        }

        Assert.All(items, static item => Assert.Equal(default, item));
    }
}
