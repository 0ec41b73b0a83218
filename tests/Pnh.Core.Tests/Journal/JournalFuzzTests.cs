using System.Globalization;
using Pnh.Core.Journal;
using Pnh.Storage.Files;
using Pnh.Storage.Segments;
using Xunit.Abstractions;

namespace Pnh.Core.Tests.Journal;

/// <summary>
/// One random corruption of a stopped journal at a time: it is refused, or put aside and counted, or nothing that was accepted is missing.
/// <c>PNH_FUZZ_SEEDS=5000</c> for more of them; a failure says its seed.
/// </summary>
public sealed class JournalFuzzTests(ITestOutputHelper output)
{
    private static readonly JournalOptions Quarantine = new() { OnDamage = DamagePolicy.Quarantine };

    [Fact(Timeout = 3_600_000)]
    public async Task Open_AnyCorruptionOfAStoppedFolder_IsNeverSilentLoss()
    {
        var seeds = int.TryParse(Environment.GetEnvironmentVariable("PNH_FUZZ_SEEDS"), CultureInfo.InvariantCulture, out var more) ? more : 200;
        var (folder, accepted, finished) = await StoppedAsync();
        var (refused, whole) = (0, 0);
        for (var seed = 1; seed <= seeds; seed++)
        {
            var damaged = folder.Copy();
            var what = new Corruption(new Random(seed)).Apply(damaged);
            try
            {
                if (await TryOpenAsync(damaged, null) is { } found)
                {
                    Assert.Equal(accepted, found);
                    whole++;
                    continue;
                }

                var served = await TryOpenAsync(damaged, Quarantine);
                Assert.NotNull(served);
                Assert.Subset(new HashSet<string>([.. accepted, .. finished]), served.ToHashSet()); // one whose end is lost is open again
                Assert.Equal(served, await TryOpenAsync(damaged, null));
                refused++;
            }
            catch (Exception fault)
            {
                throw new InvalidOperationException($"Seed {seed}: {what}", fault);
            }
        }

        output.WriteLine($"seeds 1 to {seeds}: {refused} refused, then put aside and counted; {whole} without a loss");
        Assert.InRange(refused, seeds / 4, seeds);
    }

    /// <summary>The open events with their sizes; null = refused. With quarantine it must count something.</summary>
    private static async Task<List<string>?> TryOpenAsync(CrashFolder folder, JournalOptions? options)
    {
        try
        {
            await using var disk = new JournalOnDisk(folder, options) { Now = Start.AddHours(26) };
            Assert.Equal(options is null, disk.Journal.DamagedRecords == 0);
            var open = new List<string>();
            await foreach (var unfinished in disk.Journal.RecoverAsync(default))
            {
                open.Add(string.Create(CultureInfo.InvariantCulture, $"{unfinished.Event.Id}:{unfinished.Event.Body.Length}"));
            }

            open.Sort(StringComparer.Ordinal);
            return open;
        }
        catch (DataFolderException)
        {
            return null;
        }
    }

    private static DateTimeOffset Start { get; } = new(2026, 5, 1, 12, 0, 0, TimeSpan.Zero);

    /// <summary>Several segments, the first of them removed and what was open in it carried; the open events, and those that had ended.</summary>
    private static async Task<(CrashFolder Folder, List<string> Accepted, List<string> Finished)> StoppedAsync()
    {
        var (folder, random, accepted, finished) = (new CrashFolder(), new Random(1), new List<string>(), new List<string>());
        await using (var disk = new JournalOnDisk(folder))
        {
            await AppendAsync(disk, "a", 20);
            disk.Now = Start.AddHours(25);
            for (var i = 0; i < 400 && folder.Names.First() == "00000001.log"; i++)
            {
                await disk.Journal.ReadAsync("app", "barrier", default);
            }

            Assert.NotEqual("00000001.log", folder.Names.First());
            await AppendAsync(disk, "b", 40);
        }

        accepted.Sort(StringComparer.Ordinal);
        Assert.InRange(folder.Names.Count(), 3, 8);
        return (folder, accepted, finished);

        async Task AppendAsync(JournalOnDisk disk, string name, int events)
        {
            for (var i = 0; i < events; i++)
            {
                var (id, bytes) = (string.Create(CultureInfo.InvariantCulture, $"{name}{i:d2}"), random.Next(3) == 0 ? random.Next(60_000) : random.Next(400));
                await disk.AppendAsync(id, bytes, hours: 72);
                disk.Note(id, MilestoneKind.Planned, "phone");
                var isFinished = random.Next(4) == 0;
                (isFinished ? finished : accepted).Add(string.Create(CultureInfo.InvariantCulture, $"{id}:{bytes + 2}"));
                if (isFinished)
                {
                    disk.Journal.Finish("app", id);
                }
            }
        }
    }

    /// <summary>One thing that a disk, a file system or a clumsy hand does to a file.</summary>
    private sealed class Corruption(Random random)
    {
        public string Apply(CrashFolder folder)
        {
            var names = folder.List().Order(StringComparer.Ordinal).ToList();
            var name = names[random.Next(names.Count)];
            var bytes = folder.Bytes(name);

            // Half of it where something stands, the ends above all.
            var used = Math.Max(1, bytes.AsSpan().LastIndexOfAnyExcept((byte)0) + 1);
            var at = random.Next(3) switch { 0 => random.Next(bytes.Length), 1 => random.Next(used), _ => Math.Max(0, used - 1 - random.Next(300)) };
            var length = Math.Min(bytes.Length - at, 1 << random.Next(17));
            var kind = random.Next(9);
            var what = string.Create(CultureInfo.InvariantCulture, $"kind {kind} at {at} of {name}, {length} bytes");
            switch (kind)
            {
                case 0:
                    bytes[at] ^= (byte)(1 << random.Next(8));
                    break;
                case 1:
                    bytes[at] = (byte)random.Next(256);
                    break;
                case 2:
                    random.NextBytes(bytes.AsSpan(at, length));
                    break;
                case 3:
                    bytes.AsSpan(at, length).Clear();
                    break;
                case 4:
                    folder.Replace(name, bytes[..at]);
                    break;
                case 5:
                    var added = new byte[length];
                    random.NextBytes(added);
                    folder.Replace(name, [.. bytes, .. added]);
                    break;
                case 6:
                    folder.Delete(name);
                    break;
                case 7:
                    var other = names[random.Next(names.Count)];
                    var otherBytes = folder.Bytes(other);
                    folder.Replace(name, otherBytes);
                    folder.Replace(other, bytes);
                    return what + " with " + other;
                default:
                    // Two stretches of one file, as a lost or misdirected write leaves them.
                    var from = random.Next(bytes.Length - length + 1);
                    var first = bytes.AsSpan(at, length).ToArray();
                    bytes.AsSpan(from, length).CopyTo(bytes.AsSpan(at));
                    first.CopyTo(bytes, from);
                    break;
            }

            return what;
        }
    }
}
