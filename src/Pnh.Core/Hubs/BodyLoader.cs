using Microsoft.Extensions.Logging;
using Pnh.Core.Dispatch;
using Pnh.Core.Events;
using Pnh.Core.Shards;
using Pnh.Core.Stores;
using Pnh.Core.Users;

namespace Pnh.Core.Hubs;

/// <summary>Reads bodies back from the journal for sessions that wait for them: off the gate of their shard, and back under it. Thread-safe.</summary>
internal sealed partial class BodyLoader(EventLoader loader, TimeProvider time, ILogger log, CancellationToken stopping)
{
    private static readonly TimeSpan Retry = TimeSpan.FromSeconds(1);
    private int _loading;

    /// <summary>True when none is being read.</summary>
    internal bool IsIdle => Volatile.Read(ref _loading) == 0;

    /// <summary>Returns at once; <see cref="DeviceFrames.Loaded"/> or <see cref="DeviceFrames.LoadAgain"/> follows.</summary>
    internal void Load(Shard shard, UserKey user, string device, IReadOnlyList<MailboxItem> items)
    {
        Interlocked.Increment(ref _loading);
        ThreadPool.UnsafeQueueUserWorkItem(
            static load => _ = load.Loader.LoadAsync(load.Shard, load.User, load.Device, load.Items), (Loader: this, Shard: shard, User: user, Device: device, Items: items), preferLocal: false);
    }

    private async Task LoadAsync(Shard shard, UserKey user, string device, IReadOnlyList<MailboxItem> items)
    {
        var isUnreadable = false;
        try
        {
            var loaded = new List<(MailboxItem Item, Event? Event)>(items.Count);
            foreach (var item in items)
            {
                loaded.Add((item, await loader.LoadAsync(user.App, item.Id, stopping).ConfigureAwait(false)));
            }

            shard.Frames.Loaded(user, device, loaded);
        }
        catch (OperationCanceledException)
        {
            // The hub stops.
        }
        catch (Exception fault)
        {
            Log.LoadFailed(log, user.App, fault.Message, fault is StoreUnavailableException ? null : fault);
            isUnreadable = true;
        }
        finally
        {
            Interlocked.Decrement(ref _loading);
        }

        if (isUnreadable)
        {
            await RetryAsync(shard, user, device).ConfigureAwait(false);
        }
    }

    private async Task RetryAsync(Shard shard, UserKey user, string device)
    {
        try
        {
            await Task.Delay(Retry, time, stopping).ConfigureAwait(false);
            shard.Frames.LoadAgain(user, device);
        }
        catch (OperationCanceledException)
        {
            // The hub stops.
        }
    }

    private static partial class Log
    {
        [LoggerMessage(11, LogLevel.Warning, "Stored events of app {App} could not be read for a session: {Fault} Tried again soon.", EventName = "LoadFailed")]
        internal static partial void LoadFailed(ILogger logger, string app, string fault, Exception? bug);
    }
}
