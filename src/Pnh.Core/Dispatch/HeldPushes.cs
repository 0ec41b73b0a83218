using System.Collections.Concurrent;
using Microsoft.Extensions.Logging;
using Pnh.Core.Events;
using Pnh.Core.FanOuts;
using Pnh.Core.Lanes;
using Pnh.Core.Shards;
using Pnh.Core.Stores;

namespace Pnh.Core.Dispatch;

/// <summary>
/// Held pushes whose quiet hours have ended. Those of a whole city come due at one moment: each account's go one after the other, as its lane empties, so that a newer event
/// never waits behind more than a few of them. Their events and users are read here, just before. Thread-safe.
/// </summary>
internal sealed partial class HeldPushes(
    IDeviceStore devices, PatientReads reads, EventLoader loader, ILogger log, TimeProvider time, CancellationToken stopping)
{
    /// <summary>Deliveries waiting in a lane with which the next may go: a few milliseconds of a quick provider.</summary>
    internal const int MostWaiting = 64;

    private static readonly TimeSpan Look = TimeSpan.FromMilliseconds(20);
    private readonly ConcurrentDictionary<DeliveryLane, Line> _lines = new();
    private int _open;

    /// <summary>True when none waits here.</summary>
    internal bool IsIdle => Volatile.Read(ref _open) == 0;

    /// <summary>Takes one in; returns at once.</summary>
    internal void Add(HeldPush push, DeliveryLane lane)
    {
        Interlocked.Increment(ref _open);
        if (_lines.GetOrAdd(lane, static _ => new Line()).Add(push))
        {
            ThreadPool.UnsafeQueueUserWorkItem(static state => _ = state.Pushes.WorkAsync(state.Lane), (Pushes: this, Lane: lane), preferLocal: false);
        }
    }

    private async Task WorkAsync(DeliveryLane lane)
    {
        var line = _lines[lane];
        Event? last = null;
        while (line.TryTake(out var push))
        {
            try
            {
                last = await ServeAsync(push, lane, last).ConfigureAwait(false);
            }
            catch (OperationCanceledException) when (stopping.IsCancellationRequested)
            {
                // The hub stops: the journal holds them.
                return;
            }
            catch (Exception bug)
            {
                Log.ReleaseBroke(log, push.Item.Id, push.User.App, bug);
            }

            Interlocked.Decrement(ref _open);
        }
    }

    // Gives the event: of one to a topic there are many in a row.
    private async ValueTask<Event?> ServeAsync(HeldPush push, DeliveryLane lane, Event? last)
    {
        while (lane.Length > MostWaiting && !push.Item.IsSettled)
        {
            await Task.Delay(Look, time, stopping).ConfigureAwait(false);
        }

        if (push.Item.IsSettled)
        {
            return last;
        }

        var accepted = last?.Id == push.Item.Id && last.App == push.User.App ? last : await LoadAsync(push).ConfigureAwait(false);
        await PlanAsync(push, accepted).ConfigureAwait(false);
        return accepted;
    }

    private async ValueTask PlanAsync(HeldPush push, Event? accepted)
    {
        if (!devices.TryGetUser(push.User, out var snapshot))
        {
            // Null = not to be read until the event is over, which then ends by its own time.
            snapshot = await reads.UserAsync(push.User, push.Item.ExpiresAt).ConfigureAwait(false);
        }

        if (snapshot is not null)
        {
            push.Shard.Holds.PlanAnew(push, accepted, snapshot);
        }
    }

    private async ValueTask<Event?> LoadAsync(HeldPush push)
    {
        for (var failures = 0; ; failures++)
        {
            try
            {
                return await loader.LoadAsync(push.User.App, push.Item.Id, stopping).ConfigureAwait(false);
            }
            catch (StoreUnavailableException fault)
            {
                await reads.WaitAsync(fault.Message, failures).ConfigureAwait(false);
            }
        }
    }

    private static partial class Log
    {
        [LoggerMessage(15, LogLevel.Error, "The held push of event {Id} of app {App} could not be planned; this is a bug.", EventName = "ReleaseBroke")]
        internal static partial void ReleaseBroke(ILogger logger, string id, string app, Exception bug);
    }

    /// <summary>An account's; at most one works on it.</summary>
    private sealed class Line
    {
        private readonly Queue<HeldPush> _waiting = new();
        private bool _isWorkedOn;

        /// <summary>True for the caller that has to begin the work.</summary>
        internal bool Add(HeldPush push)
        {
            lock (_waiting)
            {
                _waiting.Enqueue(push);
                return !_isWorkedOn && (_isWorkedOn = true);
            }
        }

        internal bool TryTake(out HeldPush push)
        {
            lock (_waiting)
            {
                return _waiting.TryDequeue(out push) || (_isWorkedOn = false);
            }
        }
    }
}
