using System.Collections.Concurrent;
using Microsoft.Extensions.Logging;
using Pnh.Core.Dispatch;
using Pnh.Core.Events;
using Pnh.Core.Journal;
using Pnh.Core.Push;
using Pnh.Core.Shards;
using Pnh.Core.Stores;
using Pnh.Core.Users;

namespace Pnh.Core.Hubs;

/// <summary>Reads what rests for a device into its mailbox: for a session that opens, or an app that asks. Off the gate of the shard, and back under it. Thread-safe.</summary>
internal sealed partial class MailReader(IEventJournal journal, EventLoader loader, TimeProvider time, ILogger log, CancellationToken stopping)
{
    private static readonly TimeSpan Retry = TimeSpan.FromSeconds(1);
    private readonly ConcurrentDictionary<Mailbox, TaskCompletionSource> _reading = new();
    private int _active;

    /// <summary>True when nothing is being read.</summary>
    internal bool IsIdle => Volatile.Read(ref _active) == 0;

    /// <summary>Returns at once; the shard is given it then.</summary>
    internal void Read(Shard shard, Mailbox mailbox)
    {
        Interlocked.Increment(ref _active);
        _reading[mailbox] = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        ThreadPool.UnsafeQueueUserWorkItem(static read => _ = read.Reader.ReadAsync(read.Shard, read.Mailbox), (Reader: this, Shard: shard, Mailbox: mailbox), preferLocal: false);
    }

    /// <summary>Completes when what rested for the device is in its mailbox; at once when nothing did.</summary>
    internal Task ReadAsync(Shard shard, UserKey user, string device, CancellationToken cancellationToken) =>
        shard.Mail.Read(user, device) is { } mailbox && _reading.TryGetValue(mailbox, out var reading) ? reading.Task.WaitAsync(cancellationToken) : Task.CompletedTask;

    /// <summary>Ends what rests for the device under the newer event's collapse key. Returns at once. What cannot be read now ends when it is read for its device.</summary>
    internal void Collapse(Shard shard, UserKey user, string device, Event newer)
    {
        Interlocked.Increment(ref _active);
        _ = Task.Run(() => CollapseAsync(shard, user, device, newer), CancellationToken.None);
    }

    private async Task CollapseAsync(Shard shard, UserKey user, string device, Event newer)
    {
        try
        {
            var of = new Collapse(newer.Class, newer.CollapseKey!);
            foreach (var (stored, isSettled, _) in await journal.ReadMailAsync(user.App, user.User, device, of, stopping).ConfigureAwait(false))
            {
                if (stored.Id != newer.Id && stored.AcceptedAt <= newer.AcceptedAt && loader.Read(stored, []) is { } older && older.Class == of.Class && older.CollapseKey == of.Key)
                {
                    shard.Mail.EndResting(new RestingDelivery(user, device, isSettled, older.Id, older.Class, older.AcceptedAt), DeliveryState.Suppressed, Settlement.Collapsed);
                }
            }
        }
        catch (Exception fault) when (fault is not OperationCanceledException)
        {
            Log.MailUnread(log, user.App, fault.Message, fault is StoreUnavailableException ? null : fault);
        }
        catch (OperationCanceledException)
        {
            // The hub stops.
        }
        finally
        {
            Interlocked.Decrement(ref _active);
        }
    }

    private async Task ReadAsync(Shard shard, Mailbox mailbox)
    {
        try
        {
            while (!await TryReadAsync(shard, mailbox).ConfigureAwait(false))
            {
                await Task.Delay(Retry, time, stopping).ConfigureAwait(false);
                Interlocked.Increment(ref _active);
            }
        }
        catch (OperationCanceledException)
        {
            // The hub stops.
        }
        finally
        {
            if (_reading.TryRemove(mailbox, out var reading))
            {
                reading.SetResult();
            }
        }
    }

    private async ValueTask<bool> TryReadAsync(Shard shard, Mailbox mailbox)
    {
        var key = mailbox.User.Key;
        try
        {
            var resting = await journal.ReadMailAsync(key.App, key.User, mailbox.Device, of: null, stopping).ConfigureAwait(false);
            var mail = new List<Mail>(resting.Count);
            foreach (var each in resting)
            {
                if (loader.Read(each.Event, []) is { } accepted)
                {
                    mail.Add(new Mail(accepted, each.IsSettled, each.IsAlone));
                }
            }

            shard.Mail.Take(mailbox, mail);
            return true;
        }
        catch (Exception fault) when (fault is not OperationCanceledException)
        {
            Log.MailUnread(log, key.App, fault.Message, fault is StoreUnavailableException ? null : fault);
            return false;
        }
        finally
        {
            Interlocked.Decrement(ref _active);
        }
    }

    private static partial class Log
    {
        [LoggerMessage(17, LogLevel.Warning, "What rests for a device of app {App} could not be read: {Fault} Tried again soon.", EventName = "MailUnread")]
        internal static partial void MailUnread(ILogger logger, string app, string fault, Exception? bug);
    }
}
