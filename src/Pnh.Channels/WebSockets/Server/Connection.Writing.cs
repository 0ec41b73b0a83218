using Pnh.Channels.WebSockets.Sessions;

namespace Pnh.Channels.WebSockets.Server;

/// <summary>The writer's role, and what the writer writes next.</summary>
internal abstract partial class Connection
{
    /// <summary>Since when a write is stuck; 0 = none is.</summary>
    private long _writeSince;

    /// <summary>True when the transport itself has something to write.</summary>
    protected virtual bool HasOwnWork => false;

    private bool HasUrgentWork => !_finished && (_closing is not null || _controls is not null || HasOwnWork);

    /// <summary>True for one caller until it gives the role back.</summary>
    protected bool TryTakeRole() => Interlocked.Exchange(ref _writing, 1) == 0;

    /// <summary>
    /// The role for one frame of the session's, which nothing may precede; false = somebody else has it, or will. Called under the session's
    /// lock.
    /// </summary>
    protected bool TryTakeRoleForFrame()
    {
        if (!IsCarrying || HasUrgentWork || _finished || !TryTakeRole())
        {
            return false;
        }

        if (!HasUrgentWork)
        {
            return true;
        }

        GiveRoleForFrame();
        return false;
    }

    /// <summary>Gives it back; what came meanwhile is written by the pool: the caller holds the session's lock.</summary>
    protected void GiveRoleForFrame()
    {
        Interlocked.Exchange(ref _writing, 0); // a full fence: a thread that came too late for the role is seen below
        if (HasUrgentWork)
        {
            ThreadPool.UnsafeQueueUserWorkItem(this, preferLocal: false);
        }
    }

    /// <summary>Gives the writer's role back; true when there is something again and nobody else took the role.</summary>
    protected bool TryKeepRole()
    {
        Interlocked.Exchange(ref _writing, 0);
        return (HasUrgentWork || (!_finished && _session is { HasWaiting: true })) && TryTakeRole();
    }

    /// <summary>What the writer writes next.</summary>
    protected Next TakeNext(out byte[]? control, out Outgoing outgoing)
    {
        control = null;
        outgoing = default;
        if (_finished)
        {
            return Next.Nothing;
        }

        if (_controls is not null || _closing is not null)
        {
            lock (_gate)
            {
                if (_controls is { } controls)
                {
                    control = controls.Dequeue();
                    _controls = controls.Count == 0 ? null : controls; // an idle connection keeps no queue
                    return Next.Control;
                }

                if (_closing is not null)
                {
                    return Next.Close;
                }
            }
        }

        return _session is { } session && session.TryTake(this, Parts.Clock.GetUtcNow(), out outgoing) ? Next.Frame : Next.Nothing;
    }

    /// <summary>A write may be stuck from now on: the sweep looks after it.</summary>
    protected void NoteWriting()
    {
        Volatile.Write(ref _writeSince, Parts.Clock.GetTimestamp());
        LookSoon();
    }

    /// <summary>Nothing is stuck.</summary>
    protected void NoteFree() => Volatile.Write(ref _writeSince, 0);

    /// <summary>The frame went to the connection; for a control frame <paramref name="outgoing"/> is empty.</summary>
    protected void NoteWritten(in Outgoing outgoing)
    {
        if (outgoing is { IsRepeat: false, Frame: { IsReplay: false, Event: { AcceptedTimestamp: not 0 } accepted } } && Parts.Written is { } written)
        {
            written(accepted.Class, Parts.Clock.GetElapsedTime(accepted.AcceptedTimestamp));
        }
    }
}
