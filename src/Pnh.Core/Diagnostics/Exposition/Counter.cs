namespace Pnh.Core.Diagnostics.Exposition;

/// <summary>One counter of a row of <see cref="StripedCells"/>: a number that grows. Also the count behind a gauge, then it may fall.</summary>
internal readonly struct Counter
{
    private readonly StripedCells _cells;
    private readonly int _index;

    public Counter(StripedCells cells, int index)
    {
        _cells = cells;
        _index = index;
    }

    /// <summary>The sum now.</summary>
    public long Value => _cells.Read(_index);

    /// <summary>Adds; does not wait, does not allocate.</summary>
    public void Add(long amount = 1) => _cells.Add(_index, amount);
}
