using Pnh.Core.Events;
using Pnh.Core.Sessions;

namespace Pnh.Core.Tests;

/// <summary>The way to another node in memory. One thread at a time.</summary>
internal sealed class FakeCarrier : ISessionCarrier
{
    /// <summary>False = it is too slow.</summary>
    public bool Takes { get; set; } = true;

    /// <summary>The sessions of each call, in their order.</summary>
    public List<ISessionLink[]> Calls { get; } = [];

    public bool TrySend(ReadOnlySpan<ISessionLink> sessions, Event accepted)
    {
        Calls.Add(sessions.ToArray());
        return Takes;
    }
}
