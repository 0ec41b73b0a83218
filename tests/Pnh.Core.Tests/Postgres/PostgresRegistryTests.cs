using Pnh.Core.Stores;
using Pnh.Core.Tests.Devices;
using Pnh.Storage.Postgres.Registry;
using Pnh.TestKit;

namespace Pnh.Core.Tests.Postgres;

/// <summary>The registry's specifications on PostgreSQL, a database for each fact.</summary>
public sealed class PostgresRegistryTests
{
    public static IEnumerable<object[]> Devices => Specification.RowsOf(typeof(DeviceStoreSpecification));

    public static IEnumerable<object[]> Keys => Specification.RowsOf(typeof(PublisherKeyStoreSpecification));

    [PostgresTheory]
    [MemberData(nameof(Devices))]
    public Task DeviceStore_OnPostgres_IsAsSpecified(string fact, object?[] arguments) => Specification.RunAsync(new DeviceFacts(), fact, arguments);

    [PostgresTheory]
    [MemberData(nameof(Keys))]
    public Task PublisherKeys_OnPostgres_AreAsSpecified(string fact, object?[] arguments) => Specification.RunAsync(new KeyFacts(), fact, arguments);

    private sealed class DeviceFacts : DeviceStoreSpecification
    {
        private string? _database;
        private PostgresDeviceStore? _store;

        protected override async Task<IDeviceStore> OpenAsync()
        {
            _database ??= await (await PostgresServer.SharedAsync()).CreateDatabaseAsync();
            return _store = await PostgresDeviceStore.OpenAsync(_database, TimeProvider.System);
        }

        protected override Task CloseAsync() => _store!.DisposeAsync().AsTask();
    }

    private sealed class KeyFacts : PublisherKeyStoreSpecification
    {
        private string? _database;
        private PostgresDeviceStore? _store;

        protected override async Task<IPublisherKeyStore> OpenAsync()
        {
            _database ??= await (await PostgresServer.SharedAsync()).CreateDatabaseAsync();
            _store = await PostgresDeviceStore.OpenAsync(_database, TimeProvider.System);
            return _store.Keys;
        }

        protected override Task CloseAsync() => _store!.DisposeAsync().AsTask();
    }
}
