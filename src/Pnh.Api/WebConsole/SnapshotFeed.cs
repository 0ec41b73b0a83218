using System.Text.Json;
using System.Threading.Channels;

namespace Pnh.Api.WebConsole;

/// <summary>
/// One snapshot a second for all viewers: taken and serialised once, and only while somebody watches. A viewer that reads slowly skips
/// snapshots, it never delays the others. Thread-safe.
/// </summary>
internal sealed partial class SnapshotFeed : IDisposable
{
    /// <summary>Viewers at once. A console is for operators; more are a mistake.</summary>
    public const int MaxViewers = 32;

    private static readonly TimeSpan Period = TimeSpan.FromSeconds(1);

    private readonly Lock _lock = new();
    private readonly List<Channel<byte[]>> _viewers = [];
    private readonly IConsoleSource _source;
    private readonly ILogger<SnapshotFeed> _logger;
    private readonly ITimer _timer;
    private bool _disposed;

    public SnapshotFeed(IConsoleSource source, TimeProvider time, ILogger<SnapshotFeed> logger)
    {
        _source = source;
        _logger = logger;
        _timer = time.CreateTimer(static state => ((SnapshotFeed)state!).Tick(), this, Timeout.InfiniteTimeSpan, Timeout.InfiniteTimeSpan);
    }

    /// <summary>A viewer's snapshots, encoded as server-sent events; the first comes at once. Null when there are too many viewers.</summary>
    public ChannelReader<byte[]>? Join()
    {
        var viewer = Channel.CreateBounded<byte[]>(new BoundedChannelOptions(1) { FullMode = BoundedChannelFullMode.DropOldest });
        lock (_lock)
        {
            if (_viewers.Count >= MaxViewers || _disposed)
            {
                return null;
            }

            _viewers.Add(viewer);
            if (_viewers.Count == 1)
            {
                _timer.Change(Period, Period);
            }
        }

        if (TryEncode() is { } now)
        {
            viewer.Writer.TryWrite(now);
        }

        return viewer.Reader;
    }

    /// <summary>The viewer is gone; with the last one the snapshots stop.</summary>
    public void Leave(ChannelReader<byte[]> viewer)
    {
        lock (_lock)
        {
            _viewers.RemoveAll(known => ReferenceEquals(known.Reader, viewer));
            if (_viewers.Count == 0 && !_disposed)
            {
                _timer.Change(Timeout.InfiniteTimeSpan, Timeout.InfiniteTimeSpan);
            }
        }
    }

    /// <summary>Ends the stream of every viewer.</summary>
    public void Dispose()
    {
        lock (_lock)
        {
            _disposed = true;
            _timer.Dispose();
            _viewers.ForEach(static viewer => viewer.Writer.TryComplete());
            _viewers.Clear();
        }
    }

    private void Tick()
    {
        if (TryEncode() is not { } snapshot)
        {
            return;
        }

        lock (_lock)
        {
            _viewers.ForEach(viewer => viewer.Writer.TryWrite(snapshot));
        }
    }

    /// <summary>Null when the source failed: a timer's callback must not take the process with it.</summary>
    private byte[]? TryEncode()
    {
        try
        {
            var snapshot = _source.Snapshot();
            snapshot = snapshot with
            {
                Sessions = [.. snapshot.Sessions.Take(ConsoleSnapshot.MaxSessions)],
                Phones = snapshot.Phones is { } phones ? [.. phones.Take(ConsoleSnapshot.MaxPhones)] : null,
            };
            return [.. "event: snapshot\ndata: "u8, .. JsonSerializer.SerializeToUtf8Bytes(snapshot, ConsoleJson.Default.ConsoleSnapshot), .. "\n\n"u8];
        }
        catch (Exception exception)
        {
            Log.SnapshotFailed(_logger, exception);
            return null;
        }
    }
}
