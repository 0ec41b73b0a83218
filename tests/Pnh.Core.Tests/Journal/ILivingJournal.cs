using Pnh.Core.Journal;

namespace Pnh.Core.Tests.Journal;

/// <summary>A journal of any engine that a test lets live: its clock stands where the test puts it, and it can be opened again.</summary>
internal interface ILivingJournal : IAsyncDisposable
{
    /// <summary>As it was opened last.</summary>
    IEventJournal Journal { get; }

    /// <summary>What its clock says.</summary>
    DateTimeOffset Now { get; set; }

    /// <summary>Its clock.</summary>
    TimeProvider Clock { get; }

    /// <summary>False when an id is looked for only where a publisher gave it: one that PNH made comes once.</summary>
    bool LooksForMadeIds => true;

    /// <summary>Closes it, as a stop does, and opens it on what it wrote.</summary>
    Task ReopenAsync();

    /// <summary>From here on nothing can be written.</summary>
    Task BreakAsync();

    /// <summary>What was in the way of writing is gone.</summary>
    Task MendAsync();
}
