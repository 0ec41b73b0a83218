using BenchmarkDotNet.Attributes;

namespace Pnh.Benchmarks;

/// <summary>All pieces under BenchmarkDotNet: ns and bytes of one operation, which may hold many deliveries (see the name).</summary>
[MemoryDiagnoser]
public class PieceBenchmarks
{
    private Piece? _piece;

    [ParamsSource(nameof(Names))]
    public string Name { get; set; } = "";

    public static IEnumerable<string> Names => Pieces.All.Keys;

    [GlobalSetup]
    public void Start() => _piece = Pieces.All[Name]();

    [Benchmark]
    public void Run() => _piece!.Run();

    [GlobalCleanup]
    public void End() => _piece?.Dispose();
}
