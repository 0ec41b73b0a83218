using System.Globalization;
using System.Text;
using Pnh.Core.Timing;

namespace Pnh.Storage.Files;

/// <summary>
/// Where the hub's clock stands beside the machine's, in file <c>hub.clock</c> of the data folder, rewritten in place: a start on the same run of the machine goes on with the clock of the hub before,
/// also when the machine's was set meanwhile, and one on another run not before what was written. Without the file the machine's clock counts. For one caller at a time.
/// </summary>
public sealed class FolderClock
{
    private const string Name = "hub.clock";
    private const int Bytes = 64;

    // Further apart, one of the two was years off: no event of then is alive.
    private static readonly TimeSpan MostApart = TimeSpan.FromDays(28);
    private static readonly TimeSpan WorthWriting = TimeSpan.FromMilliseconds(50);

    private readonly string _path;
    private readonly string _boot;
    private readonly TimeProvider _wall;
    private long _written = long.MinValue;

    /// <param name="folder">The data folder, held by this process.</param>
    /// <param name="wall">The machine's clock, with timestamps since the machine's start.</param>
    public FolderClock(string folder, TimeProvider wall)
    {
        (_path, _wall) = (Path.Combine(folder, Name), wall);
        _boot = ReadText("/proc/sys/kernel/random/boot_id") is { Length: > 0 } boot ? boot.Trim() : "unknown";
        var line = ReadText(_path);
        WasKept = line is not null;
        var ahead = line is not null && Read(line) is { } utcOfZero ? OfZero(wall) + utcOfZero - wall.GetUtcNow() : TimeSpan.Zero;
        Clock = new SteadyClock(wall, ahead.Duration() > MostApart ? TimeSpan.Zero : ahead);
    }

    /// <summary>The hub's clock.</summary>
    public SteadyClock Clock { get; }

    /// <summary>True when a process before this one had the folder.</summary>
    public bool WasKept { get; }

    /// <summary>What is in the journal was written by then: the clock does not begin before it.</summary>
    public void StartAfter(DateTimeOffset written)
    {
        if (WasKept && written - Clock.GetUtcNow() <= MostApart)
        {
            _ = Clock.StartAfter(written);
        }
    }

    /// <summary>Keeps where the clock stands. A disk that fails or is full loses it, no more.</summary>
    public void Write()
    {
        var utcOfZero = (Clock.GetUtcNow() - OfZero(_wall)).Ticks;
        if (Math.Abs(utcOfZero - _written) < WorthWriting.Ticks)
        {
            return;
        }

        try
        {
            var options = DataFolder.PrivateFile(FileMode.OpenOrCreate);
            options.BufferSize = 0;
            using var file = new FileStream(_path, options);
            RandomAccess.Write(file.SafeFileHandle, Encoding.ASCII.GetBytes(string.Create(CultureInfo.InvariantCulture, $"{_boot} {utcOfZero}").PadRight(Bytes - 1) + "\n"), 0);
            _written = utcOfZero;
        }
        catch (Exception fault) when (fault is IOException or UnauthorizedAccessException)
        {
            // See above.
        }
    }

    /// <summary>The time since the machine's start, as a time.</summary>
    private static DateTimeOffset OfZero(TimeProvider wall) => DateTimeOffset.UnixEpoch + wall.GetElapsedTime(0);

    // Of another run of the machine, or none: nothing is known.
    private TimeSpan? Read(string line) =>
        line.Split(' ', 2) is [var boot, var ticks] && boot == _boot && boot != "unknown" && long.TryParse(ticks.AsSpan().Trim(), NumberStyles.AllowLeadingSign, CultureInfo.InvariantCulture, out var utcOfZero)
            ? new TimeSpan(utcOfZero) : null;

    private static string? ReadText(string path)
    {
        try
        {
            return File.Exists(path) ? File.ReadAllText(path) : null;
        }
        catch (Exception fault) when (fault is IOException or UnauthorizedAccessException)
        {
            return null;
        }
    }
}
