using Pnh.Storage.Segments.Index;

namespace Pnh.Storage.Segments;

/// <summary>
/// What somebody waits for. <see cref="Apply"/> runs once on the writer's thread, then, after its group was synced or given up, exactly one of
/// <see cref="Committed"/> and <see cref="Failed"/>; a work that is refused gets only the latter.
/// </summary>
internal abstract class JournalWork
{
    /// <summary>How many of the notes that were queued with it came before it.</summary>
    public int NotesBefore { get; set; }

    /// <summary>The waiting caller gets its answer now. For the writer's thread.</summary>
    public bool IsTold { get; set; }

    /// <summary>Bytes that its records take at most; 0 = it writes nothing.</summary>
    public abstract int MostBytes { get; }

    public abstract void Apply(JournalWriter writer);

    /// <summary><see cref="Apply"/> follows, after some of others: asks for what of the index it will look at.</summary>
    public virtual void Prefetch(EventIndex index)
    {
    }

    /// <summary>
    /// In place of <see cref="Apply"/> while nothing can be written: true = what stands on stable storage is its answer, false = it has to write.
    /// </summary>
    public abstract bool TryAnswer(JournalWriter writer);

    /// <summary>Answers the waiting caller: null = its group is on stable storage. Never on the writer's thread: the caller may go on inside.</summary>
    public void Tell(Exception? fault)
    {
        if (fault is null)
        {
            Committed();
        }
        else
        {
            Failed(fault);
        }
    }

    protected abstract void Committed();

    protected abstract void Failed(Exception reason);
}
