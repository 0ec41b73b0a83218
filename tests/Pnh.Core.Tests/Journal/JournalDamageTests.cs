using System.Globalization;
using Pnh.Core.Events;
using Pnh.Core.Journal;
using Pnh.Core.Stores;
using Pnh.Storage.Files;
using Pnh.Storage.Segments;
using Pnh.Storage.Segments.Format;
using Record = Pnh.Storage.Segments.Format.Record;

namespace Pnh.Core.Tests.Journal;

public sealed class JournalDamageTests
{
    private const string First = "00000001.log";
    private static readonly JournalOptions Quarantine = new() { OnDamage = DamagePolicy.Quarantine };

    [Fact]
    public void Record_AnyBitFlipped_IsNoRecord()
    {
        var group = new Group();
        group.Begin(7, 64, 3);
        var at = new DateTimeOffset(2026, 5, 1, 12, 0, 0, TimeSpan.Zero);
        var milestone = new Milestone("app", "e1", EventClass.Call, MilestoneKind.Settled, at) { User = "ada", Device = "phone", State = "acked" };
        var root = group.Event(RecordKind.Accepted, EventClass.Call, "app", "e1", true, at, at, null, "{}"u8);
        group.Event(RecordKind.Carried, EventClass.Bulk, "app", "e2", false, at, at, "00-1-2-03", "[1]"u8);
        group.Milestone(milestone, RecordKind.Milestone, RecordFlags.Repeated, root, 0);
        group.Milestone(milestone, RecordKind.Address, RecordFlags.None, 0, 0);
        group.Finish("app", "e1", root, 0);
        group.Complete();

        var bytes = group.Bytes.ToArray();
        var kinds = new List<RecordKind>();
        for (var offset = 0; offset < bytes.Length;)
        {
            Assert.True(Record.TryRead(bytes.AsSpan(offset), Position.Of(7, 64 + offset), out var record));
            Assert.False(Record.TryRead(bytes.AsSpan(offset), Position.Of(7, 72 + offset), out _));
            kinds.Add(record.Kind);
            var length = record.PaddedBytes;
            for (var bit = 8 * offset; bit < 8 * (offset + length); bit++)
            {
                bytes[bit / 8] ^= (byte)(1 << (bit % 8));
                Assert.False(Record.TryRead(bytes.AsSpan(offset), Position.Of(7, 64 + offset), out _));
                bytes[bit / 8] ^= (byte)(1 << (bit % 8));
            }

            offset += length;
        }

        Assert.Equal([RecordKind.Accepted, RecordKind.Carried, RecordKind.Milestone, RecordKind.Address, RecordKind.Finished], kinds);
    }

    [Fact(Timeout = 30_000)]
    public async Task ReadMailAsync_RecordOfOneIsDamaged_GivesTheOthers()
    {
        await using var disk = new JournalOnDisk();
        foreach (var id in new[] { "one", "two", "three" })
        {
            await disk.AppendAsync(id);
            var planned = new Milestone("app", id, EventClass.Message, MilestoneKind.Planned, disk.Now) { User = "ada", Device = "phone", IsKept = true };
            disk.Journal.Note(planned);
            disk.Journal.Note(planned with { Kind = MilestoneKind.Rested, NextAttemptAt = disk.Now.AddHours(1) });
        }

        await disk.Journal.FlushAsync(default);
        var bytes = disk.Folder.Bytes(First);
        bytes[bytes.AsSpan().IndexOf("two"u8)] ^= 4;
        Assert.Equal(["one", "three"], (await disk.Journal.ReadMailAsync("app", "ada", "phone", null, default)).Select(static one => one.Event.Id));
        Assert.Equal(["one", "three"], (await disk.Journal.ReadOverAsync(disk.Now.AddHours(2), 100, default)).Select(static one => one.Event.Id).Order(StringComparer.Ordinal));
    }

    [Fact]
    public void SegmentHeader_AnyBitFlipped_IsNoHeader()
    {
        Span<byte> bytes = stackalloc byte[SegmentHeader.Bytes];
        new SegmentHeader(3, 1 << 20, 2, 4_096, 5, 6, 7).Write(bytes);

        Assert.True(SegmentHeader.TryRead(bytes, 3, out _));
        Assert.False(SegmentHeader.TryRead(bytes, 4, out _));
        for (var bit = 0; bit < 8 * bytes.Length; bit++)
        {
            bytes[bit / 8] ^= (byte)(1 << (bit % 8));
            Assert.False(SegmentHeader.TryRead(bytes, 3, out _));
            bytes[bit / 8] ^= (byte)(1 << (bit % 8));
        }
    }

    [Fact(Timeout = 300_000)]
    public async Task Open_AnyByteDamaged_IsRefusedOrPutAside()
    {
        var (folder, clean) = await LogAsync();
        var end = UsedBytes(folder.Bytes(First));
        var random = new Random(1);
        for (var at = 0; at < end; at++)
        {
            var damaged = folder.Copy();
            damaged.Bytes(First)[at] ^= (byte)(1 << random.Next(8));

            var refusal = Assert.Throws<DataFolderException>(() => new JournalOnDisk(damaged));
            Assert.Contains("00000001.log", refusal.Message, StringComparison.Ordinal);
            Assert.Contains("Pnh:Journal:OnDamage=Quarantine", refusal.Message, StringComparison.Ordinal);
            await using (var survivor = new JournalOnDisk(damaged, Quarantine))
            {
                Assert.Equal(1, survivor.Journal.DamagedRecords);
                Assert.Single(damaged.Aside);

                // One record is missing: of an event (then the event is), or of what was said of one.
                var left = await survivor.OpenAsync();
                Assert.InRange(left.Count, clean.Count - 1, clean.Count + 1);
                Assert.Equal(AppendResult.Appended, await survivor.AppendAsync("new"));
            }

            await using var third = new JournalOnDisk(damaged);
            Assert.Equal(0, third.Journal.DamagedRecords);
            Assert.Contains("new", await third.OpenAsync());
        }
    }

    [Fact(Timeout = 60_000)]
    public async Task Open_MilestoneInTheMiddlePutAside_TheOthersAreStillFound()
    {
        var folder = new CrashFolder();
        await using (var disk = new JournalOnDisk(folder))
        {
            await disk.AppendAsync("e1");
            foreach (var device in new[] { "one", "two", "three" })
            {
                disk.Note("e1", MilestoneKind.Settled, device);
                await disk.MilestonesAsync("e1");
            }
        }

        var bytes = folder.Bytes(First);
        bytes[bytes.AsSpan().IndexOf("two"u8)] ^= 4;
        await using var survivor = new JournalOnDisk(folder, Quarantine);

        Assert.Equal(["one", "three"], await survivor.MilestonesAsync("e1"));
        Assert.Equal(["e1"], await survivor.OpenAsync());
    }

    [Fact(Timeout = 60_000)]
    public async Task Open_NeighboursPutAside_TheOthersAreStillFound()
    {
        var folder = new CrashFolder();
        await using (var disk = new JournalOnDisk(folder))
        {
            await disk.AppendAsync("e1");
            foreach (var device in new[] { "one", "two", "three", "four" })
            {
                disk.Note("e1", MilestoneKind.Settled, device);
            }

            await disk.MilestonesAsync("e1");
        }

        var bytes = folder.Bytes(First);
        bytes[bytes.AsSpan().IndexOf("two"u8)] ^= 4;
        bytes[bytes.AsSpan().IndexOf("three"u8)] ^= 4;
        await using var survivor = new JournalOnDisk(folder, Quarantine);

        Assert.Equal(["one", "four"], await survivor.MilestonesAsync("e1"));
        Assert.Equal(["e1"], await survivor.OpenAsync());
    }

    [Fact(Timeout = 60_000)]
    public async Task ReadAsync_DamagedWhileItRuns_IsRefused()
    {
        await using var disk = new JournalOnDisk();
        await disk.AppendAsync("e1");
        disk.Note("e1", MilestoneKind.Settled, "one");
        disk.Note("e1", MilestoneKind.Settled, "two");
        await disk.MilestonesAsync("e1");

        var bytes = disk.Folder.Bytes(First);
        bytes[bytes.AsSpan().IndexOf("one"u8)] ^= 4;

        var refusal = await Assert.ThrowsAsync<StoreUnavailableException>(() => disk.MilestonesAsync("e1"));
        Assert.StartsWith("The journal is damaged at 00000001.log", refusal.Message, StringComparison.Ordinal);
    }

    [Fact(Timeout = 60_000)]
    public async Task Open_SegmentOfAnEventsMiddleMissing_ServesTheRestOfIt()
    {
        var folder = new CrashFolder();
        await using (var disk = new JournalOnDisk(folder))
        {
            await disk.AppendAsync("e1");
            await NoteAsync(disk, "one");
            await disk.AppendAsync("large", 150_000);
            await disk.AppendAsync("large too", 150_000);
            await NoteAsync(disk, "two");
            await disk.AppendAsync("third", 120_000);
            await NoteAsync(disk, "three");
        }

        Assert.Equal([First, "00000002.log", "00000003.log"], folder.Names);
        folder.Delete("00000002.log");
        await using var survivor = new JournalOnDisk(folder, Quarantine);

        Assert.Equal(["one", "three"], await survivor.MilestonesAsync("e1"));
        Assert.Equal(["e1", "large", "third"], await survivor.OpenAsync());

        static async Task NoteAsync(JournalOnDisk disk, string device)
        {
            disk.Note("e1", MilestoneKind.Settled, device);
            await disk.MilestonesAsync("e1");
        }
    }

    [Fact(Timeout = 60_000)]
    public async Task Open_ShortSegmentMissing_TheOneBeforeItIsServedToItsOwnEnd()
    {
        var folder = new CrashFolder();
        await using (var disk = new JournalOnDisk(folder))
        {
            await disk.AppendAsync("e1", 100_000);
            await disk.AppendAsync("e2", 100_000);
            await disk.AppendAsync("e3", 150_000);
            await disk.AppendAsync("e4", 150_000);
        }

        // The third says that the missing one ended at 150 kB, which is in the middle of what the first has.
        Assert.Equal([First, "00000002.log", "00000003.log"], folder.Names);
        folder.Delete("00000002.log");
        await using var survivor = new JournalOnDisk(folder, Quarantine);

        Assert.Equal(1, survivor.Journal.DamagedRecords);
        Assert.Equal(["e1", "e2", "e4"], await survivor.OpenAsync());
        Assert.Empty(folder.Aside);
    }

    [Fact(Timeout = 60_000)]
    public async Task Open_RestOfAGroupThatWasRefusedBehindALaterOne_IsNotServed()
    {
        var folder = new CrashFolder();
        DateTimeOffset at;
        await using (var disk = new JournalOnDisk(folder))
        {
            await disk.AppendAsync("before");
            at = disk.Now;
        }

        // A write of two events reached the disk and was refused all the same; the next went to the same place, and has the length of the first of them.
        var bytes = folder.Bytes(First);
        var end = UsedBytes(bytes);
        Write(1_000, "refused-1", "refused-2");
        Write(1_001, "confirmed");
        await using var survivor = new JournalOnDisk(folder);

        Assert.Equal(["before", "confirmed"], await survivor.OpenAsync());
        Assert.Equal(AppendResult.Appended, await survivor.AppendAsync("refused-2"));

        void Write(ulong number, params string[] ids)
        {
            var group = new Group();
            group.Begin(1, end, number);
            foreach (var id in ids)
            {
                group.Event(RecordKind.Accepted, EventClass.Message, "app", id, true, at, at.AddHours(1), null, "{}"u8);
            }

            group.Complete();
            group.Bytes.CopyTo(bytes.AsSpan(end));
        }
    }

    [Fact(Timeout = 60_000)]
    public async Task Open_SegmentMissingOrCutShort_IsRefusedOrServesTheRest()
    {
        var folder = new CrashFolder();
        await using (var disk = new JournalOnDisk(folder))
        {
            for (var i = 0; i < 14; i++)
            {
                await disk.AppendAsync(string.Create(CultureInfo.InvariantCulture, $"e{i:d2}"), 60_000);
            }
        }

        var missing = folder.Copy();
        missing.Delete("00000002.log");
        Assert.Contains("00000002.log is missing", Assert.Throws<DataFolderException>(() => new JournalOnDisk(missing)).Message, StringComparison.Ordinal);
        await using (var survivor = new JournalOnDisk(missing, Quarantine))
        {
            var left = await survivor.OpenAsync();
            Assert.Equal(10, left.Count);
            Assert.Equal(("e00", "e13"), (left[0], left[^1]));
        }

        var last = folder.Names.Last();
        var cut = folder.Copy();
        cut.Truncate(last, 70_000);
        Assert.Contains("was cut short", Assert.Throws<DataFolderException>(() => new JournalOnDisk(cut)).Message, StringComparison.Ordinal);
        await using var shorter = new JournalOnDisk(cut, Quarantine);
        Assert.Equal(13, (await shorter.OpenAsync()).Count);
        Assert.Equal(AppendResult.Appended, await shorter.AppendAsync("new"));
    }

    /// <summary>A small closed log with records of all kinds, and its open events.</summary>
    private static async Task<(CrashFolder Folder, List<string> Open)> LogAsync()
    {
        var folder = new CrashFolder();
        List<string> open;
        await using (var disk = new JournalOnDisk(folder))
        {
            await disk.AppendAsync("e1");
            disk.Note("e1", MilestoneKind.Planned, "phone");
            await Task.WhenAll(disk.AppendAsync("e2"), disk.AppendAsync("e3"));
            disk.Journal.Finish("app", "e2");
            disk.Journal.NoteAddress(new AddressNote("app", "ada", "phone", "fcm", "dead", null, disk.Now));
            await disk.Journal.WithdrawAsync("app", "e3", null, "withdrawn", disk.Now, default);
            open = await disk.OpenAsync();
        }

        return (folder, open);
    }

    /// <summary>Where the records end.</summary>
    private static int UsedBytes(byte[] file)
    {
        var offset = SegmentHeader.Bytes;
        while (Record.TryRead(file.AsSpan(offset), Position.Of(1, offset), out var record))
        {
            offset += record.PaddedBytes;
        }

        return offset;
    }
}
