using Pnh.Core.Diagnostics.Exposition;

namespace Pnh.Core.Tests.Diagnostics;

public sealed class StripedCellsTests
{
    [Fact]
    public async Task Add_FromManyThreads_LosesNothing()
    {
        var cells = new StripedCells(3);
        await Task.WhenAll(Enumerable.Range(0, 8).Select(thread => Task.Run(() =>
        {
            for (var i = 0; i < 50_000; i++)
            {
                cells.Add(i % 3, 1);
            }
        }))).WaitAsync(TimeSpan.FromSeconds(30));

        Assert.Equal(8 * 16_667, cells.Read(0));
        Assert.Equal(8 * 16_667, cells.Read(1));
        Assert.Equal(8 * 16_666, cells.Read(2));
    }

    [Fact]
    public void Add_Negative_LowersTheSum()
    {
        var cells = new StripedCells(1);
        cells.Add(0, 5);
        cells.Add(0, -7);
        Assert.Equal(-2, cells.Read(0));
    }

    [Theory]
    [InlineData(-1)]
    [InlineData(2)]
    public void Add_IndexOutsideTheRow_Throws(int index) =>
        Assert.Throws<ArgumentOutOfRangeException>(() => new StripedCells(2).Add(index, 1));
}
