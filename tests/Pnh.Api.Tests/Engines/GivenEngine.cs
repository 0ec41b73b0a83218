using Pnh.Api.Engines;
using Pnh.Core.Diagnostics;
using Pnh.Core.Journal;
using Pnh.Core.Stores;
using Pnh.Storage.Files;
using Pnh.Storage.Registry;
using Pnh.TestKit;

namespace Pnh.Api.Tests.Engines;

/// <summary>An engine of the tests: events in memory, devices in a folder that is not the hub's.</summary>
internal sealed class GivenEngine : IStorageEngine
{
    private readonly TemporaryFolder _folder = new();
    private readonly ModelJournal _journal = new(TimeProvider.System, TimeSpan.FromDays(7));
    private readonly SqliteDeviceStore _registry;
    private readonly byte[] _secret = new byte[64];

    internal GivenEngine() => _registry = SqliteDeviceStore.Open(_folder.FullPath, TimeProvider.System);

    internal List<string> Calls { get; } = [];

    internal string? CheckFault { get; init; }

    public string? Refusal { get; set; }

    public IEventJournal Journal => _journal;

    public IDeviceStore Devices => _registry;

    public IPublisherKeyStore Keys => _registry.Keys;

    public IErasureStore Erasures => _registry.Erasures;

    public string ClusterId => "00c0ffee";

    public IReadOnlyList<(string Label, string Name, Func<bool> IsClosed)> Parts => [("given", "the tests' engine", static () => false)];

    public byte[] ReadOrCreateSecret(string name, int bytes) => _secret[..bytes];

    public IReadOnlyCollection<string> ReadEdges() => [];

    public void KeepEdges(IReadOnlyCollection<string> links) => Calls.Add("edges");

    public void Export(HubMetrics metrics) => Calls.Add("export");

    public Task CheckAsync(CancellationToken cancellationToken)
    {
        Calls.Add("check");
        return CheckFault is null ? Task.CompletedTask : Task.FromException(new DataFolderException(CheckFault));
    }

    public void Lose() => Calls.Add("lose");

    public async ValueTask DisposeAsync()
    {
        Calls.Add("dispose");
        await _registry.DisposeAsync();
        _folder.Dispose();
    }
}
