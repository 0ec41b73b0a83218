using Pnh.LoadTest.Integrity;

namespace Pnh.LoadTest.Options;

/// <summary>What <c>--break</c> does to one arrival in <see cref="Arrivals.FaultEvery"/>, to show that the tool sees it.</summary>
internal enum Fault
{
    None,
    Lose,
    Duplicate,
    Reorder,
    Misroute,
    WrongAnswer,
    Corrupt,
}
