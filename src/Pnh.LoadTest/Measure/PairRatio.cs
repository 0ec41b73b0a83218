namespace Pnh.LoadTest.Measure;

/// <summary>The figures of PNH's runs as multiples of a peer's, pair by pair: the two ran after each other, so a noisy minute hit both.</summary>
/// <param name="Values">A ratio for each pair of which both sides have a figure.</param>
/// <param name="Pairs">Pairs that one side or the other began.</param>
internal sealed record PairRatio(IReadOnlyList<double> Values, int Pairs)
{
    /// <summary>By the runs' pair; of runs that name none (older files) by their position, when no run of a side is missing.</summary>
    public static PairRatio Of(IReadOnlyList<BenchResult> own, Func<BenchResult, double?> figure, IReadOnlyList<BenchResult> peer, Func<BenchResult, double?> ofPeer)
    {
        if (own.Count == 0 || peer.Count == 0)
        {
            return new PairRatio([], 0);
        }

        if (own.Concat(peer).Any(static run => run.Pair is null))
        {
            return new PairRatio(own.Count == peer.Count ? Ratios(own.Zip(peer)) : [], Math.Max(own.Count, peer.Count));
        }

        // A pair that one side ran twice does not count: nobody knows which run belongs to the other side's.
        var (mine, others) = (own.ToLookup(static run => run.Pair), peer.ToLookup(static run => run.Pair));
        var pairs = mine.Select(static group => group.Key).Union(others.Select(static group => group.Key)).ToList();
        var whole = pairs.Where(pair => mine[pair].Count() == 1 && others[pair].Count() == 1);
        return new PairRatio(Ratios(whole.Select(pair => (mine[pair].First(), others[pair].First()))), pairs.Count);

        List<double> Ratios(IEnumerable<(BenchResult Own, BenchResult Peer)> both) => [.. both.Select(pair => figure(pair.Own) / ofPeer(pair.Peer)).OfType<double>()];
    }

    /// <summary>How many pairs are in it, to stand behind the figure.</summary>
    public string Used => Pairs == 0 ? "" : Values.Count == Pairs ? FormattableString.Invariant($" ({Pairs})") : FormattableString.Invariant($" ({Values.Count} of {Pairs})");
}
