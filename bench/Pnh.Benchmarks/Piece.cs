namespace Pnh.Benchmarks;

/// <summary>One operation of the hot path, set up and ready to be repeated on one thread.</summary>
/// <param name="Run">The operation.</param>
/// <param name="Of">How many of what the name counts are in it (deliveries, notes); figures are given per one.</param>
/// <param name="End">Frees what it holds; null = nothing.</param>
internal sealed record Piece(Action Run, int Of = 1, IDisposable? End = null) : IDisposable
{
    public void Dispose() => End?.Dispose();
}
