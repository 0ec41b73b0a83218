using Microsoft.Extensions.DependencyInjection;
using Pnh.Core.Journal;
using Pnh.Core.Journal.Segments;

namespace Pnh.Api.Tests.EndToEnd;

/// <summary>A disk that fails to sync: the journal closes itself, and that can be seen and is repaired by a restart.</summary>
public sealed class StoreFaultTests
{
    [Fact]
    public async Task JournalClosedAfterAFailedSync_ShowsInMetricsAndHealth()
    {
        var data = Directory.CreateTempSubdirectory("pnh-").FullName;
        try
        {
            var folder = new FailingFolder(DiskFolder.At(Path.Combine(data, "journal")));
            await using (var hub = await TestHub.StartAsync(
                data, null, null, [], services => services.AddSingleton(_ => SegmentJournal.Open(folder, TimeProvider.System, null))))
            {
                Assert.Equal((202, 200, 200), await StateAsync(hub));
                Assert.Equal((0, 0, 1), Metrics(hub));

                folder.IsFailing = true;
                Assert.Equal((503, 503, 503), await StateAsync(hub));
                folder.IsFailing = false;
                Assert.Equal((503, 503, 503), await StateAsync(hub));
                Assert.Equal((1, 0, 0), Metrics(hub));
            }

            await using var next = await TestHub.StartAsync(data);
            Assert.Equal((202, 200, 200), await StateAsync(next));
            Assert.Equal((0, 0, 1), Metrics(next));
        }
        finally
        {
            Directory.Delete(data, recursive: true);
        }
    }

    private static async Task<(int Accept, int Health, int Ready)> StateAsync(TestHub hub) => (
        (await hub.SendAsync("POST", "/v1/events", """{"to":{"user":"nobody"}}""")).Status,
        (await hub.SendAsync("GET", "/healthz", operations: true)).Status,
        (await hub.SendAsync("GET", "/readyz")).Status);

    private static (long Journal, long Registry, long Ready) Metrics(TestHub hub) => (
        EventFlowTests.Metric(hub, "pnh_store_closed{store=\"journal\"}"),
        EventFlowTests.Metric(hub, "pnh_store_closed{store=\"registry\"}"),
        EventFlowTests.Metric(hub, "pnh_ready"));

    private sealed class FailingFolder(IJournalFolder inner) : IJournalFolder
    {
        private volatile bool _isFailing;

        public bool IsFailing
        {
            get => _isFailing;
            set => _isFailing = value;
        }

        public string Name => inner.Name;

        public IReadOnlyList<string> List() => inner.List();

        public IJournalFile Create(string name, long bytes) => new FailingFile(this, inner.Create(name, bytes));

        public IJournalFile Open(string name) => new FailingFile(this, inner.Open(name));

        public void Delete(string name) => inner.Delete(name);

        public void Sync() => inner.Sync();

        public void Quarantine(string name, ReadOnlySpan<byte> bytes) => inner.Quarantine(name, bytes);
    }

    private sealed class FailingFile(FailingFolder folder, IJournalFile inner) : IJournalFile
    {
        public long Length => inner.Length;

        public int Read(Span<byte> into, long offset) => inner.Read(into, offset);

        public void Write(ReadOnlySpan<byte> bytes, long offset) => inner.Write(bytes, offset);

        public void Sync()
        {
            if (folder.IsFailing)
            {
                throw new IOException("Input/output error");
            }

            inner.Sync();
        }

        public void Dispose() => inner.Dispose();
    }
}
