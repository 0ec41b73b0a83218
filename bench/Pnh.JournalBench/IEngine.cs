using Pnh.Core.Events;

namespace Pnh.JournalBench;

/// <summary>What is measured of an engine: an accepted event, one outcome, the end.</summary>
internal interface IEngine : IAsyncDisposable
{
    string Name { get; }

    /// <summary>Commits so far.</summary>
    long Commits { get; }

    /// <summary>Completes when the event is on stable storage.</summary>
    ValueTask AppendAsync(Event accepted);

    /// <summary>One settled delivery and the event's end; nobody waits for them.</summary>
    void End(Event accepted);
}
