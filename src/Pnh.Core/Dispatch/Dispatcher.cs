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
                return new ValueTask(ServeAsync(new Remainder(this, accepted, progress, targets)));
            }

            Dispatched(accepted, progress, past: null);
        }
        catch (Exception bug)
        {
            LogCut(accepted, bug);
        }

        End(progress);
        return ValueTask.CompletedTask;
    }

    /// <summary>The same of an event of which the previous process began something.</summary>
    internal Task DispatchPastAsync(Event accepted, EventProgress progress, PastDispatch past) => ServeAsync(new Remainder(this, accepted, progress, past));

    /// <summary>Ends what the previous process began and nobody goes on with.</summary>
    internal void EndPast(Event accepted, EventProgress progress, PastDispatch past, DeliveryState state, string? reason)
    {
        foreach (var user in past.Users)
        {
            var key = new UserKey(accepted.App, user);
            Shards.Of(key).EndPast(progress, key, past, state, reason);
        }
    }

    /// <summary>Ends what the previous process began for guests: their sessions ended with it, but for those that edges hold.</summary>
    internal void EndFormerGuests(Event accepted, EventProgress progress, PastDispatch past)
    {
        foreach (var user in past.Users)
        {
            if (past.Lost?.Contains(user) != true)
            {
                var key = new UserKey(accepted.App, user);
                Shards.Of(key).EndPastGuest(progress, accepted, key, past);
            }
        }
    }

    /// <summary>Plans for one user, who was read.</summary>
    internal void Dispatch(Event accepted, EventProgress? progress, UserKey key, UserSnapshot snapshot, PastDispatch? past)
    {
        var shard = Shards.Of(key);
        if (!shard.Dispatch(progress, accepted, key, snapshot, past) && progress is not null && past is not { IsComplete: true } && past?.HasBegun(key.User) != true
            && Awaited.TryAdd(key, accepted, progress) && shard.Sessions(key, isConnected: true).Length > 0)
        {
            Awaited.Came(key); // between the two
        }
    }

    /// <summary>A user could not be read until the event was over.</summary>
    internal void EndUnread(Event accepted, EventProgress? progress, UserKey key, PastDispatch? past) => _context.EndUnread(Shards.Of(key), accepted, progress, key, past);

    /// <summary>All users and sessions of the event are planned.</summary>
    internal void Dispatched(Event accepted, EventProgress? progress, PastDispatch? past)
    {
        if (progress is null || Awaited.Holds(progress))
        {
            return;
        }

        // Once for all runs: what was there then may be gone now, which is not "no devices".
        if (past is { IsComplete: true })
        {
            _context.Close(progress);
        }
        else
        {
            _context.EndDispatch(progress, accepted.To.Users.Count == 1 ? accepted.To.Users[0] : null);
        }
    }

    /// <summary>A fault or a bug ended the dispatch. Journaled, so accepted: what could not be planned is taken up again at the next start, because the event stays open.</summary>
    internal void LogCut(Event accepted, Exception fault)
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

    private async Task ServeAsync(Remainder rest)
    {
        if (!await rest.TryAsync().ConfigureAwait(false))
        {
            _ = GoOnAsync(rest);
        }
    }

    private async Task GoOnAsync(Remainder rest)
    {
        if (!await Reads.GoOnAsync(rest.TryAsync).ConfigureAwait(false))
        {
            // The hub stops: the journal holds it.
            End(rest.Progress);
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

            Dispatch(accepted, progress, key, snapshot, past: null);
        }

        Joined.Serve(accepted, progress, targets.Joined, targets.Members);
        return true;
    }

    // A user has come back for whom an event waited. Null = not to be read until the event is over.
    private async ValueTask ServeReturnedAsync(Event accepted, EventProgress progress, string user, PastDispatch past)
    {
        var key = new UserKey(accepted.App, user);
        if (await Reads.UserAsync(key, accepted.ExpiresAt).ConfigureAwait(false) is { } snapshot)
        {
            Dispatch(accepted, progress, key, snapshot, past);
        }
        else
        {
            EndUnread(accepted, progress, key, past);
        }
    }

    // Off the topic's line: its next events do not wait for users whom nobody can read.
    private void EndFanOut(FanOut fanOut)
    {
        if (fanOut.Past is { } past)
        {
            EndFormerGuests(fanOut.Event, fanOut.Progress, past);
            if (past.Lost is not null)
            {
                _ = ServeAsync(Remainder.OfLost(this, fanOut.Event, fanOut.Progress, past));
                return;
            }
        }

        Dispatched(fanOut.Event, fanOut.Progress, fanOut.Past);
    }

    private static partial class Log
    {
        [LoggerMessage(4, LogLevel.Error, "Event {Id} was accepted but only partly planned: {Fault} The rest goes on at the next start.", EventName = "DispatchCut")]
        internal static partial void DispatchCut(ILogger logger, string id, string fault, Exception? bug);

        [LoggerMessage(13, LogLevel.Warning, "Event {Id} of app {App} to topic {Topic} has waited {Seconds:F0} s for its first members: too many fan-outs are under way.", EventName = "FanOutWaits")]
        internal static partial void FanOutWaits(ILogger logger, string id, string app, string topic, double seconds);
    }
}
