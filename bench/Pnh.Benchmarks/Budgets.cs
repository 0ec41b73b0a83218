using System.Globalization;
using System.Text.Json;

namespace Pnh.Benchmarks;

/// <summary>Allocated bytes of each piece against <c>budgets.json</c>: a line per budget, and one per piece that has none.</summary>
internal static class Budgets
{
    /// <summary>0 when all hold. A budget without its piece fails: a renamed piece must not lose its budget in silence.</summary>
    public static int Check(string file)
    {
        using var json = JsonDocument.Parse(File.ReadAllBytes(file));
        var passed = 0;
        var failed = 0;
        foreach (var budget in json.RootElement.EnumerateObject())
        {
            var most = budget.Value.GetDouble();
            var measured = Pieces.All.TryGetValue(budget.Name, out var start) ? Bytes(start) : double.NaN;
            var isKept = measured <= most;
            _ = isKept ? passed++ : failed++;
            Console.WriteLine(string.Create(
                CultureInfo.InvariantCulture, $"{(isKept ? "ok" : "not ok")} {budget.Name}: {measured:0.##} B of {most:0.##} B"));
        }

        Console.WriteLine(string.Create(CultureInfo.InvariantCulture, $"{passed} passed, {failed} failed"));
        return failed == 0 && passed > 0 ? 0 : 1;
    }

    private static double Bytes(Func<Piece> start)
    {
        using var piece = start();
        // A fan-out gives way to others, and goes on on another thread: of the process then, rounded, since its second hand allocates too.
        var everywhere = piece.Of > 1;
        var operations = Math.Max(50, 5_000 / piece.Of);
        return everywhere ? Math.Round(Measure.Bytes(piece, everywhere, operations), 1) : Measure.Bytes(piece, everywhere, operations);
    }
}
