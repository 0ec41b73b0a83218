using Pnh.Core.Diagnostics;
using Pnh.Core.Journal;
using Pnh.Core.Stores;

namespace Pnh.Api.Engines;

/// <summary>
/// What keeps a hub's truth: events, devices, keys. A hub knows it by this alone; <c>Pnh:Store</c> says which one it is. Thread-safe.
/// </summary>
internal interface IStorageEngine : IAsyncDisposable
{
    /// <summary>Accepted events and what became of them.</summary>
    IEventJournal Journal { get; }

    /// <summary>Users, devices, addresses, members.</summary>
    IDeviceStore Devices { get; }

    /// <summary>Publishers' keys that were made while a hub ran.</summary>
    IPublisherKeyStore Keys { get; }

    /// <summary>Users who were erased.</summary>
    IErasureStore Erasures { get; }

    /// <summary>The same for all who share this truth and for nobody else; 8 hexadecimal digits.</summary>
    string ClusterId { get; }

    /// <summary>What may close itself for good, as <c>/readyz</c> and metrics name it.</summary>
    IReadOnlyList<(string Label, string Name, Func<bool> IsClosed)> Parts { get; }

    /// <summary>Why every durable event, or every registration, is refused now, in one line without paths; null = they are taken. Any thread asks.</summary>
    string? Refusal { get; }

    /// <summary>A secret that survives restarts and that hubs of this truth alone have; made when it is asked for the first time.</summary>
    /// <param name="name">Its name.</param>
    /// <param name="bytes">How long it is.</param>
    byte[] ReadOrCreateSecret(string name, int bytes);

    /// <summary>Links of edges that the hub had last: for these it waits a moment at its start. Empty when that is not known.</summary>
    IReadOnlyCollection<string> ReadEdges();

    /// <summary>Keeps them. What cannot be kept is logged, and the next start waits for those of before.</summary>
    void KeepEdges(IReadOnlyCollection<string> links);

    /// <summary>Exports what it knows of itself. Once.</summary>
    void Export(HubMetrics metrics);

    /// <summary>Looks before the start whether this is the truth that the hub is to serve, and says how far it reaches back. Throws <see cref="Pnh.Storage.Files.DataFolderException"/>, whose message is one line.</summary>
    Task CheckAsync(CancellationToken cancellationToken);

    /// <summary>Another hub serves this truth now: nothing is written any more.</summary>
    void Lose();
}
