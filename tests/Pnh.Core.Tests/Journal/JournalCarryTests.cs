using System.Globalization;
using Pnh.Core.Events;
using Pnh.Core.Journal;
using Pnh.Storage.Segments;
using Pnh.Storage.Segments.Format;
using Record = Pnh.Storage.Segments.Format.Record;

namespace Pnh.Core.Tests.Journal;

/// <summary>An open event with a long history leaves a segment that is past the retention: in parts, while others go on.</summary>
public sealed class JournalCarryTests
{
    private const int Many = 6_000;
    private const int NoSpace = 28;
    private static readonly JournalOptions InParts = new() { CarryBytes = 64 * 1024 };

    [Fact(Timeout = 60_000)]
    public async Task Retention_LongHistory_NoTurnTakesMuchOfItAndNothingIsLost()
    {
        await using var disk = await LongAsync(InParts);
        var expected = Names(Many);
        var (most, turns) = (0, 0);
        var largest = 0;
        disk.Folder.BeforeSync = unsynced => largest = Math.Max(largest, unsynced);
        for (; IsThere(disk); turns++)
        {
            Assert.InRange(turns, 0, 500);
            var before = disk.Folder.Reads;
            await disk.AppendAsync(Name(turns));
            disk.Note("long", MilestoneKind.Framed, $"late-{turns}");
            expected.Add($"late-{turns}");
            most = Math.Max(most, disk.Folder.Reads - before);
        }

        // Some 900 kB of 6,000 milestones; beside the parts there are zeros for small groups.
        Assert.InRange(turns, 16, 500);
        Assert.InRange(most, 1, 2_500);
        Assert.InRange(largest, 1, 400 * 1024);
        Assert.Equal(expected, await disk.MilestonesAsync("long"));
        await disk.ReopenAsync();
        Assert.Equal(expected, await disk.MilestonesAsync("long"));
        Assert.Equal(AppendResult.Duplicate, await disk.AppendAsync("long", hours: 72));
        Assert.Equal(0, disk.Journal.DroppedNotes);

        // The feed has them once, where they were.
        Assert.Single((await disk.Journal.ReadFeedAsync("app", null, 10_000, default)).Entries, entry => entry.Outcome?.Device == Name(Many - 1));
    }

    /// <summary>In one group, and in parts of which the last knows nothing of it.</summary>
    [Theory(Timeout = 60_000)]
    [InlineData(10)]
    [InlineData(Many)]
    public async Task Retention_RestedEventIsCarried_RestsOn(int many)
    {
        await using var disk = new JournalOnDisk(options: InParts);
        await disk.AppendAsync("long", hours: 72);
        var rested = new Milestone("app", "long", EventClass.Message, MilestoneKind.Planned, disk.Now) { User = "ada", Device = "phone", IsKept = true };
        disk.Journal.Note(rested);
        disk.Journal.Note(rested with { Kind = MilestoneKind.Rested, NextAttemptAt = disk.Now.AddHours(72) });
        disk.Journal.Note(new Milestone("app", "long", EventClass.Message, MilestoneKind.Rested, disk.Now));
        for (var n = 0; n < many; n++)
        {
            disk.Note("long", MilestoneKind.Framed, Name(n));
        }

        disk.IsSlow = true;
        disk.Now += TimeSpan.FromHours(25);
        await TurnAsync(disk, 500);
        Assert.False(IsThere(disk));
        await disk.AppendAsync("other");
        for (var start = 0; start < 3; start++)
        {
            var mail = Assert.Single(await disk.Journal.ReadMailAsync("app", "ada", "phone", null, default));
            Assert.Equal("long", mail.Event.Id);
            await disk.ReopenAsync();
            Assert.Equal(["other"], await disk.OpenAsync());
        }

        Assert.Empty(await disk.Journal.ReadOverAsync(disk.Now.AddHours(46), int.MaxValue, default));
        Assert.Equal("long", Assert.Single(await disk.Journal.ReadOverAsync(disk.Now.AddHours(47), int.MaxValue, default)).Event.Id);
    }

    [Fact(Timeout = 60_000)]
    public async Task Retention_WithdrawnWhileItIsCarried_StaysWithdrawn()
    {
        await using var disk = await LongAsync(InParts);
        await disk.Journal.WithdrawAsync("app", "long", "eve", "answered", disk.Now, default);
        await TurnAsync(disk, 12);
        Assert.True(IsThere(disk));
        var bob = await disk.Journal.WithdrawAsync("app", "long", "bob", "answered", disk.Now, default);
        Assert.Equal(WithdrawStatus.Withdrawn, bob.Status);
        await TurnAsync(disk, 500);

        Assert.False(IsThere(disk));
        foreach (var user in new[] { "eve", "bob", "eve", "bob" })
        {
            Assert.Equal(WithdrawStatus.Already, (await disk.Journal.WithdrawAsync("app", "long", user, "again", disk.Now, default)).Status);
            await disk.ReopenAsync();
        }

        Assert.Equal(Many + 2, (await disk.MilestonesAsync("long")).Count);
    }

    [Fact(Timeout = 60_000)]
    public async Task Retention_FinishedWhileItIsCarried_IsGone()
    {
        await using var disk = await LongAsync(InParts);
        await TurnAsync(disk, 12);
        Assert.NotEmpty(Copies(disk));
        disk.Journal.Finish("app", "long");
        await TurnAsync(disk, 500);

        Assert.False(IsThere(disk));
        Assert.DoesNotContain("long", await disk.OpenAsync());
        await disk.ReopenAsync();
        Assert.DoesNotContain("long", await disk.OpenAsync());
        Assert.Equal(AppendResult.Appended, await disk.AppendAsync("long", hours: 72));
        await disk.ReopenAsync();
        Assert.Empty(await disk.MilestonesAsync("long"));
    }

    [Fact(Timeout = 60_000)]
    public async Task Retention_DiskFullWhileItIsCarried_GoesOnWhereItWas()
    {
        await using var disk = await LongAsync(InParts);
        await TurnAsync(disk, 12);
        disk.Folder.WriteFault = new IOException("full", NoSpace);
        await TurnAsync(disk, 12);
        disk.Folder.WriteFault = null;
        disk.Now += TimeSpan.FromMinutes(2);
        await TurnAsync(disk, 500);

        Assert.False(IsThere(disk));
        Assert.Single(Copies(disk));
        Assert.Equal(Names(Many), await disk.MilestonesAsync("long"));
        await disk.ReopenAsync();
        Assert.Equal(Names(Many), await disk.MilestonesAsync("long"));
    }

    [Fact(Timeout = 60_000)]
    public async Task Retention_NoMemory_IsTriedAgainAndBreaksNothing()
    {
        await using var disk = await LongAsync(InParts);
        await TurnAsync(disk, 2);
        disk.Folder.ReadFault = new InsufficientMemoryException();
        await TurnAsync(disk, 2);
        disk.Folder.ReadFault = null;
        Assert.False(disk.Journal.IsDamaged);
        disk.Now += TimeSpan.FromMinutes(2);
        await TurnAsync(disk, 500);

        Assert.False(IsThere(disk));
        Assert.Equal(Names(Many), await disk.MilestonesAsync("long"));
    }

    [Fact(Timeout = 60_000)]
    public async Task Retention_MoreMilestonesThanAreCarried_StaysAndIsReadOnce()
    {
        await using var disk = await LongAsync(InParts with { MostCarried = 2_000 });
        await TurnAsync(disk, 50);
        var before = disk.Folder.Reads;
        for (var minute = 0; minute < 20; minute++)
        {
            disk.Now += TimeSpan.FromMinutes(2);
            await TurnAsync(disk, 5);
        }

        Assert.InRange(disk.Folder.Reads - before, 0, 200);
        Assert.True(IsThere(disk));
        Assert.Equal(AppendResult.Appended, await disk.AppendAsync("another"));
        Assert.Equal(Names(Many), await disk.MilestonesAsync("long"));
        Assert.Empty(Copies(disk));

        // Over, and all that it kept goes.
        disk.Journal.Finish("app", "long");
        disk.Now += TimeSpan.FromHours(1);
        await TurnAsync(disk, 100);
        Assert.False(IsThere(disk));
    }

    [Fact(Timeout = 60_000)]
    public async Task Retention_LinkPutAside_TheOthersAreCarried()
    {
        var disk = await LongAsync(InParts);
        await disk.DisposeAsync();
        var folder = disk.Folder;
        var bytes = folder.Bytes("00000002.log");
        bytes[bytes.AsSpan().IndexOf("user-"u8)] ^= 4;
        await using var next = new JournalOnDisk(folder, InParts with { OnDamage = DamagePolicy.Quarantine }) { Now = disk.Now, IsSlow = true };
        var expected = await next.MilestonesAsync("long");
        Assert.Equal(Many - 1, expected.Count);
        for (var turn = 0; IsThere(next); turn++)
        {
            Assert.InRange(turn, 0, 500);
            await next.AppendAsync(Name(turn));
            next.Note("long", MilestoneKind.Framed, $"late-{turn}");
            expected.Add($"late-{turn}");
        }

        Assert.Equal(expected, await next.MilestonesAsync("long"));
        await next.ReopenAsync();
        Assert.Equal(expected, await next.MilestonesAsync("long"));
    }

    [Theory(Timeout = 60_000)]
    [InlineData(true)]
    [InlineData(false)]
    public async Task Open_ARecordOfTheCopyPutAside_TheOthersSayThatItIsWhole(bool isRemoved)
    {
        const int Few = 12;
        var small = InParts with { CarryBytes = 512 };
        await using var disk = await LongAsync(small, Few);
        disk.Folder.DeleteFault = isRemoved ? null : new IOException("read-only", 30);
        await TurnAsync(disk, 50);
        Assert.Equal(isRemoved, !IsThere(disk));
        await disk.AppendAsync("young");
        var copy = Assert.Single(Copies(disk));
        var all = Records(disk).Where(record => record.At >= copy && record.Kind is RecordKind.Carried or RecordKind.Milestone).ToList();
        Assert.Equal(Few + 1, all.Count);
        Assert.InRange(all.Count(record => record.Kind == RecordKind.Milestone && (record.Flags & RecordFlags.Partial) != 0), 2, 6);
        foreach (var (at, kind, _) in all)
        {
            var damaged = disk.Folder.Copy();
            damaged.Bytes(SegmentSet.FileName(Position.Segment(at)))[Position.Offset(at) + Record.HeaderBytes] ^= 1;
            await using var next = new JournalOnDisk(damaged, small with { OnDamage = DamagePolicy.Quarantine }) { Now = disk.Now };
            Assert.Equal(1, next.Journal.DamagedRecords);
            var open = await next.OpenAsync();
            Assert.Contains("young", open);

            // Without its body there is no event; unless it still stands in the old place, with all of it.
            Assert.Equal(kind != RecordKind.Carried || !isRemoved, open.Contains("long"));
            if (open.Contains("long"))
            {
                Assert.Equal(kind == RecordKind.Carried ? Few : Few - 1, (await next.MilestonesAsync("long")).Count);
            }
        }
    }

    /// <summary>Its segment is past the retention, and the writer does the least in each turn.</summary>
    private static async Task<JournalOnDisk> LongAsync(JournalOptions options, int many = Many)
    {
        var disk = new JournalOnDisk(options: options);
        await disk.AppendAsync("long", hours: 72);
        for (var n = 0; n < many; n++)
        {
            disk.Journal.Note(new Milestone("app", "long", EventClass.Message, MilestoneKind.Settled, disk.Now)
            {
                User = $"user-{Name(n)}",
                Device = Name(n),
                State = "acked",
            });
        }

        Assert.Equal(many, (await disk.MilestonesAsync("long")).Count);
        disk.IsSlow = true;
        disk.Now += TimeSpan.FromHours(25);
        return disk;
    }

    // Turns of the writer that write nothing themselves, until the segment is gone.
    private static async Task TurnAsync(JournalOnDisk disk, int most)
    {
        for (var turn = 0; turn < most && IsThere(disk); turn++)
        {
            await disk.Journal.ReadAsync("app", "nobody", default);
        }
    }

    private static bool IsThere(JournalOnDisk disk) => disk.Folder.Names.Contains("00000001.log");

    /// <summary>Where a carried event begins.</summary>
    private static List<long> Copies(JournalOnDisk disk) => [.. Records(disk).Where(record => record.Kind == RecordKind.Carried).Select(record => record.At)];

    private static List<(long At, RecordKind Kind, RecordFlags Flags)> Records(JournalOnDisk disk)
    {
        var found = new List<(long At, RecordKind Kind, RecordFlags Flags)>();
        foreach (var name in disk.Folder.Names)
        {
            var bytes = disk.Folder.Bytes(name);
            for (var offset = SegmentHeader.Bytes; Record.TryRead(bytes.AsSpan(offset), Position.Of(SegmentSet.NumberOf(name), offset), out var record);)
            {
                found.Add((Position.Of(SegmentSet.NumberOf(name), offset), record.Kind, record.Flags));
                offset += record.PaddedBytes;
            }
        }

        return found;
    }

    private static List<string> Names(int count) => [.. Enumerable.Range(0, count).Select(Name)];

    private static string Name(int n) => n.ToString("d5", CultureInfo.InvariantCulture);
}
