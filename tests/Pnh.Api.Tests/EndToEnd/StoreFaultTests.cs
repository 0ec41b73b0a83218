using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Logging;
using Pnh.Api.Configuration;
using Pnh.Core.Stores;
using Pnh.Core.Users;
using Pnh.Storage.Segments;
using Pnh.Storage.Segments.Format;

namespace Pnh.Api.Tests.EndToEnd;

/// <summary>A disk that fails, is full, or has lost pages: what that shows in answers, health and metrics.</summary>
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

    [Fact]
    public async Task FullDisk_WhatIsKnownIsAnsweredAndReadinessComesBackByItself()
    {
        FailingFolder? folder = null;
        await using var hub = await TestHub.StartAsync(
            null, null, null, [], services => services.AddSingleton(provider => SegmentJournal.Open(
                folder = new FailingFolder(DiskFolder.At(Path.Combine(provider.GetRequiredService<PnhOptions>().Data, "journal"))), TimeProvider.System, null)));
        const string Known = """{"id":"e1","to":{"user":"eve"},"data":1}""";
        await hub.SendAsync("PUT", "/v1/users/eve/devices/tab", """{"platform":"web"}""");
        Assert.Equal(202, (await hub.SendAsync("POST", "/v1/events", Known)).Status);

        folder!.IsFull = true;
        Assert.Equal((503, 200, 503), await StateAsync(hub));
        Assert.StartsWith("not ready: No space left for the journal", (await hub.SendAsync("GET", "/readyz")).Body, StringComparison.Ordinal);
        var again = await hub.SendAsync("POST", "/v1/events", Known);
        Assert.Equal(202, again.Status);
        Assert.Contains("\"duplicate\":true", again.Body, StringComparison.Ordinal);
        Assert.Equal(200, (await hub.SendAsync("GET", "/v1/events/e1")).Status);
        Assert.Contains("e1", (await hub.SendAsync("GET", "/v1/inbox?device=tab", credential: hub.ClientToken("eve"))).Body, StringComparison.Ordinal);

        folder.IsFull = false;
        await TestHub.EventuallyAsync(() => EventFlowTests.Metric(hub, "pnh_ready"), static ready => ready == 1);
        Assert.Equal((202, 200, 200), await StateAsync(hub));
    }

    [Fact]
    public async Task JournalDamagedUnderARunningHub_IsSaidOnceCountedAndNotCalledARefusal()
    {
        using var log = new RecordedLog();
        await using var hub = await TestHub.StartAsync(null, null, null, [], services => services.AddLogging(logging => logging.AddProvider(log)));
        foreach (var id in new[] { "whole", "damaged" })
        {
            Assert.Equal(202, (await hub.SendAsync("POST", "/v1/events", $$"""{"id":"{{id}}","to":{"user":"eve"},"data":"the text of {{id}}"}""")).Status);
        }

        Overwrite(Path.Combine(hub.Host.Start.Folder.FolderPath, "journal"), "the text of damaged"u8);
        for (var again = 0; again < 3; again++)
        {
            var answer = await hub.SendAsync("GET", "/v1/events/damaged");
            Assert.Equal(503, answer.Status);
            Assert.Contains("damaged part of the journal", answer.Body, StringComparison.Ordinal);
            Assert.DoesNotContain("Nothing was accepted", answer.Body, StringComparison.Ordinal);
        }

        // A page leaves it out.
        Assert.DoesNotContain("damaged", (await hub.SendAsync("GET", "/v1/events?limit=10")).Body, StringComparison.Ordinal);
        Assert.Equal(200, (await hub.SendAsync("GET", "/v1/events/whole")).Status);
        Assert.Equal(1, EventFlowTests.Metric(hub, "pnh_journal_damaged_records_total"));
        Assert.Single(log.Lines, static line => line.Category.EndsWith("SegmentJournal", StringComparison.Ordinal) && line.Level == LogLevel.Error);
    }

    private static void Overwrite(string journal, ReadOnlySpan<byte> text)
    {
        foreach (var path in Directory.GetFiles(journal, "*.log"))
        {
            using var file = new FileStream(path, FileMode.Open, FileAccess.ReadWrite, FileShare.ReadWrite);
            var bytes = new byte[64 * 1024];
            var at = bytes.AsSpan(0, file.ReadAtLeast(bytes, bytes.Length, throwOnEndOfStream: false)).IndexOf(text);
            if (at >= 0)
            {
                file.Position = at;
                file.WriteByte((byte)'T');
                return;
            }
        }

        Assert.Fail("the text is in no segment");
    }

    [Fact]
    public async Task RegistryFoundDamagedByARead_IsNeitherReadyNorHealthy()
    {
        // An app of its own: a demo would read its user's devices before it starts.
        string[] app = [$"--Pnh:Apps:shop:Keys:0:Secret={TestHub.ConfiguredKey}", "--Pnh:Apps:shop:Keys:0:Scopes=send read"];
        var data = Directory.CreateTempSubdirectory("pnh-").FullName;
        await using (var hub = await TestHub.StartAsync(data, configuration: app))
        {
            var devices = hub.Host.Services.GetRequiredService<IDeviceStore>();
            await Task.WhenAll(Enumerable.Range(0, 500).Select(n => devices.PutDeviceAsync(
                new UserKey("shop", $"damaged-{n}"), new Device { Id = "tab", Platform = Platform.Web, RegisteredAt = DateTimeOffset.UnixEpoch }, CancellationToken.None)));
        }

        // No page that a start looks at: it reads the first of the devices only.
        DamagePagesWith(Path.Combine(data, "registry.db"), "damaged-355"u8);
        await using (var hub = await TestHub.StartAsync(data, configuration: app))
        {
            Assert.Equal((0, 0, 1), Metrics(hub));

            Assert.Equal(503, (await hub.SendAsync("GET", "/v1/users/damaged-355")).Status);
            Assert.Equal((503, 503), ((await hub.SendAsync("GET", "/healthz")).Status, (await hub.SendAsync("GET", "/readyz")).Status));
            Assert.Equal((0, 1, 0), Metrics(hub));
        }

        Directory.Delete(data, recursive: true);
    }

    private static void DamagePagesWith(string file, ReadOnlySpan<byte> words)
    {
        const int Page = 4_096;
        var bytes = File.ReadAllBytes(file);
        for (var page = Page; page < bytes.Length; page += Page)
        {
            if (bytes.AsSpan(page, Page).IndexOf(words) >= 0)
            {
                bytes.AsSpan(page, Page).Fill(0xA5);
            }
        }

        File.WriteAllBytes(file, bytes);
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
        private volatile bool _isFull;

        /// <summary>Nothing more is written.</summary>
        public bool IsFull
        {
            get => _isFull;
            set => _isFull = value;
        }

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

        public void Write(ReadOnlySpan<byte> bytes, long offset)
        {
            if (folder.IsFull)
            {
                throw new IOException("No space left on device", 28);
            }

            inner.Write(bytes, offset);
        }

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
