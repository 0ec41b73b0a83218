using Pnh.Core.Events;
using Pnh.Core.Sessions;

namespace Pnh.Core.Tests;

/// <summary>The way to another node in memory. One thread at a time.</summary>
internal sealed class FakeCarrier : ISessionCarrier
{
    /// <summary>False = it is too slow.</summary>
    public bool Takes { get; set; } = true;

    /// <summary>The numbers of each call, in their order.</summary>
    public List<long[]> Calls { get; } = [];

    /// <summary>How many calls there had been at each flush.</summary>
    public List<int> Flushes { get; } = [];

    public bool TrySend(ReadOnlySpan<long> sessions, Event accepted)
    {
        Calls.Add(sessions.ToArray());
        return Takes;
    }

    /// <summary>Whether each of them might be sent by its caller.</summary>
    public List<bool> ByCaller { get; } = [];

    public void Flush(bool byCaller)
    {
        Flushes.Add(Calls.Count);
        ByCaller.Add(byCaller);
    }
}
