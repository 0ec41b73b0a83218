using Pnh.Core.Stores;
using Pnh.Storage.Registry;
using Pnh.TestKit;

namespace Pnh.Core.Tests.Devices;

public sealed class SqlitePublisherKeysTests : PublisherKeyStoreSpecification, IDisposable
{
    private readonly TemporaryFolder _folder = new();
    private SqliteDeviceStore? _registry;

    public void Dispose() => _folder.Dispose();

    protected override Task<IPublisherKeyStore> OpenAsync()
    {
        _registry = SqliteDeviceStore.Open(_folder.FullPath, TimeProvider.System);
        return Task.FromResult(_registry.Keys);
    }

    protected override Task CloseAsync() => _registry!.DisposeAsync().AsTask();
}
