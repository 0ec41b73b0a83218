using Microsoft.Extensions.Logging;
using Pnh.Core.Diagnostics;
using Pnh.Core.Events;
using Pnh.Core.FanOuts;
using Pnh.Core.Progress;
using Pnh.Core.Push;
using Pnh.Core.Sessions;
using Pnh.Core.Shards;
using Pnh.Core.Stores;
using Pnh.Core.Timing;
using Pnh.Core.Users;

namespace Pnh.Core.Dispatch;

/// <summary>From an accepted event to its deliveries, user by user. Thread-safe.</summary>
internal sealed partial class Dispatcher
{
    // Up to so many are served at once, by the thread that brought the event: a hop costs as much as a few of them.
    private const int FewTargets = 128;

    private readonly ShardContext _context;
    private readonly IDeviceStore _devices;
    private readonly TopicTable _topics;
    private readonly DispatchTable _dispatching = new();
    private readonly Action<string> _faulted;
    private readonly ILogger _log;
    private readonly CancellationToken _stopping;

    /// <param name="context">What shards share.</param>
    /// <param name="shards">Where users live.</param>
    /// <param name="devices">The registry: what it has in memory needs no wait.</param>
    /// <param name="topics">Who is in which topic.</param>
    /// <param name="reads">Reads of the rest.</param>
    /// <param name="loader">Makes events again.</param>
    /// <param name="faulted">Gets each fault of a store.</param>
    /// <param name="log">Gets events that are only partly planned.</param>
    /// <param name="stopping">Ends what waits.</param>
    internal Dispatcher(
        ShardContext context, ShardMap shards, IDeviceStore devices, TopicTable topics, PatientReads reads, EventLoader loader, Action<string> faulted, ILogger log, CancellationToken stopping)
    {
        _context = context;
        Shards = shards;
        _devices = devices;
        _topics = topics;
        Reads = reads;
        _faulted = faulted;
        _log = log;
        _stopping = stopping;
        var paced = new PacedLog(log, context.Time);
        Turns = new Turns(context.Time);
        Joined = new JoinedFanOut(context, Turns);
        Awaited = new AwaitedUsers(context, loader, ServeReturnedAsync, faulted, log, stopping);
        var pages = new FanOutPages(context, shards, reads, Turns, EndFanOut, (fanOut, fault) => LogCut(fanOut.Event, fault), stopping);
        Early = new EarlyTurns(devices, reads, Turns, pages.FlushAsync);
        FanOuts = new FanOutTable(
            pages.ServeAsync, pages.RestAsync, (fanOut, wait) => Log.FanOutWaits(paced, fanOut.Event.Id, fanOut.Line.Topic.App, fanOut.Line.Topic.Topic, wait.TotalSeconds), context.Time);
    }

    /// <summary>Events to the members of long topics, behind their answers.</summary>
    internal FanOutTable FanOuts { get; }

    /// <summary>Users who are about to come back.</summary>
    internal AwaitedUsers Awaited { get; }

    internal ShardMap Shards { get; }

    internal PatientReads Reads { get; }

    internal Turns Turns { get; }

    internal EarlyTurns Early { get; }

    internal JoinedFanOut Joined { get; }

    /// <summary>The event is on its way: a caller that takes it back waits for its deliveries to begin. <see cref="End"/> follows.</summary>
    internal void Begin(EventProgress progress) => _dispatching.Add(progress);

    /// <summary>Every delivery of the event has begun, or that was given up. A second call does nothing.</summary>
    internal void End(EventProgress? progress)
    {
        if (progress is not null)
        {
            _dispatching.Remove(progress);
            progress.DispatchEnded();
        }
    }

    /// <summary>Completes when every delivery of the event has begun or was given up; at once when it is not on its way.</summary>
    internal Task DispatchedAsync(string app, string id) => _dispatching.DispatchedAsync(app, id);

    /// <summary>
    /// Plans the event and starts its deliveries. Nearly always what it needs is in memory and it is for few: then all of it happens here, and nothing is
    /// allocated. Comes back early when the registry cannot be read: the rest goes on by itself when it can, since the event is on stable storage. Throws nothing.
    /// </summary>
    /// <param name="accepted">The event.</param>
    /// <param name="progress">Null for a transient one.</param>
    internal ValueTask DispatchAsync(Event accepted, EventProgress? progress)
    {
        var targets = FindTargets(accepted);
        try
        {
            if (!TryDispatch(accepted, progress, ref targets))
            {
                return new ValueTask(ServeAsync(accepted, progress, new Remainder(this, accepted, progress, targets).TryAsync));
            }

            Dispatched(accepted, progress);
        }
        catch (Exception bug)
        {
            LogCut(accepted, bug);
        }

        End(progress);
        return ValueTask.CompletedTask;
    }

    /// <summary>The same of an event that the previous process left unfinished.</summary>
    internal Task RestoreAsync(Event accepted, EventProgress progress, RestoredEvent restored) => ServeAsync(accepted, progress, new RestoredDispatch(this, accepted, progress, restored).TryAsync);

    /// <summary>Ends what had begun of an event that the previous process left unfinished: its time is over.</summary>
    internal void EndRestored(Event accepted, EventProgress progress, RestoredEvent restored)
    {
        foreach (var (user, share) in restored.Users)
        {
            var key = new UserKey(accepted.App, user);
            Shards.Of(key).Shares.End(progress, key, share, DeliveryState.Expired, null);
        }
    }

    /// <summary>Plans for one user, who was read. <paramref name="begun"/>: devices that had the event as guests; null = none.</summary>
    internal void Dispatch(Event accepted, EventProgress? progress, UserKey key, UserSnapshot snapshot, TopicSessions? begun = null)
    {
        if (!Shards.Of(key).Dispatch(progress, accepted, key, snapshot, begun) && progress is not null)
        {
            Await(accepted, progress, key);
        }
    }

    /// <summary>Plans a user's share of an event that the previous process left unfinished. A null snapshot = the user could not be read until the event was over.</summary>
    internal void Restore(Event accepted, EventProgress progress, UserKey key, UserSnapshot? snapshot, RestoredUser share)
    {
        var shard = Shards.Of(key);
        if (snapshot is null)
        {
            EndUnread(accepted, progress);
            shard.Shares.End(progress, key, share, DeliveryState.Failed, ShardContext.StoreUnavailable);
        }
        else if (!shard.Shares.Restore(progress, accepted, key, snapshot, share) && share is { Deliveries.Count: 0, AddsDevices: true })
        {
            Await(accepted, progress, key);
        }
    }

    /// <summary>The same of a user whose sessions alone were given it.</summary>
    internal void RestoreGuest(Event accepted, EventProgress progress, UserKey key, RestoredUser share) => Shards.Of(key).Shares.RestoreGuest(progress, accepted, key, share);

    /// <summary>A user could not be read until the event was over.</summary>
    internal void EndUnread(Event accepted, EventProgress? progress) => _context.EndUnread(accepted, progress);

    /// <summary>All users and sessions of the event are planned.</summary>
    internal void Dispatched(Event accepted, EventProgress? progress)
    {
        if (progress is not null && !Awaited.Holds(progress))
        {
            _context.EndDispatch(progress, accepted.To.Users.Count == 1 ? accepted.To.Users[0] : null);
        }
    }

    /// <summary>The same of an event that the previous process had planned. Once for all runs: what was there then may be gone now, which is not "no devices".</summary>
    internal void Ended(EventProgress progress) => _context.Close(progress);

    /// <summary>A fault or a bug ended the dispatch. Journaled, so accepted: what could not be planned is taken up again at the next start, because the event stays open.</summary>
    private void LogCut(Event accepted, Exception fault)
    {
        if (fault is not OperationCanceledException || !_stopping.IsCancellationRequested)
        {
            Log.DispatchCut(_log, accepted.Id, fault.Message, fault is StoreUnavailableException ? null : fault);
        }
    }

    /// <summary>True when the event has no time left to wait for its registry. A transient one promises nothing, and nobody waits for it.</summary>
    internal bool IsOver(Event accepted) => !accepted.IsDurable || accepted.ExpiresAt <= _context.Time.GetUtcNow();

    /// <summary>Tells of rows that are lost.</summary>
    internal void Faulted(string fault) => _faulted(fault);

    // As far as the registry can be read now; the rest goes on by itself.
    private async Task ServeAsync(Event accepted, EventProgress? progress, Func<ValueTask<bool>> tryPartsAsync)
    {
        if (!await TryAsync().ConfigureAwait(false))
        {
            _ = GoOnAsync(progress, TryAsync);
        }

        async ValueTask<bool> TryAsync()
        {
            try
            {
                if (!await tryPartsAsync().ConfigureAwait(false))
                {
                    return false;
                }
            }
            catch (Exception fault)
            {
                LogCut(accepted, fault);
            }

            End(progress);
            return true;
        }
    }

    private async Task GoOnAsync(EventProgress? progress, Func<ValueTask<bool>> tryAsync)
    {
        if (!await Reads.GoOnAsync(tryAsync).ConfigureAwait(false))
        {
            // The hub stops: the journal holds it.
            End(progress);
        }
    }

    // Nothing is known of the user; sessions may be about to come back.
    private void Await(Event accepted, EventProgress progress, UserKey key)
    {
        if (Awaited.TryAdd(key, accepted, progress) && Shards.Of(key).Sessions.Of(key, isConnected: true).Length > 0)
        {
            Awaited.Came(key); // between the two
        }
    }

    // What needs no wait; true = that was all.
    private bool TryDispatch(Event accepted, EventProgress? progress, ref Targets targets)
    {
        if (targets.Users is not { } users || users.Count + targets.Joined.Length > FewTargets)
        {
            return false;
        }

        for (; targets.Served < users.Count; targets.Served++)
        {
            var key = new UserKey(accepted.App, users[targets.Served]);
            if (!_devices.TryGetUser(key, out var snapshot))
            {
                return false;
            }

            Dispatch(accepted, progress, key, snapshot);
        }

        Joined.Serve(accepted, progress, targets.Joined, targets.Members);
        return true;
    }

    // A user has come back for whom an event waited.
    private async ValueTask ServeReturnedAsync(Event accepted, EventProgress progress, string user, RestoredUser share)
    {
        var key = new UserKey(accepted.App, user);
        Restore(accepted, progress, key, await Reads.UserAsync(key, accepted.ExpiresAt).ConfigureAwait(false), share);
    }

    // Off the topic's line: its next events do not wait for users whom nobody can read.
    private void EndFanOut(FanOut fanOut)
    {
        if (fanOut.Rest is { } rest)
        {
            _ = ServeAsync(fanOut.Event, fanOut.Progress, rest);
        }
        else
        {
            Dispatched(fanOut.Event, fanOut.Progress);
        }
    }

    private static partial class Log
    {
        [LoggerMessage(4, LogLevel.Error, "Event {Id} was accepted but only partly planned: {Fault} The rest goes on at the next start.", EventName = "DispatchCut")]
        internal static partial void DispatchCut(ILogger logger, string id, string fault, Exception? bug);

        [LoggerMessage(13, LogLevel.Warning, "Event {Id} of app {App} to topic {Topic} has waited {Seconds:F0} s for its first members: too many fan-outs are under way.", EventName = "FanOutWaits")]
        internal static partial void FanOutWaits(ILogger logger, string id, string app, string topic, double seconds);
    }
}
