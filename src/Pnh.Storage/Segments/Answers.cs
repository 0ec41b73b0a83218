namespace Pnh.Storage.Segments;

/// <summary>
/// Tells those who wait for a group, on the pool. A few are told by one work item, one after the other: a hop to the pool costs as much as what a
/// publisher does next, and a group has many. As many work items as keep all cores busy.
/// </summary>
internal sealed class Answers : IThreadPoolWorkItem
{
    // 16 answers of some 10 us: the last of them waits no longer than a sync takes.
    private const int MostAtOnce = 16;

    private readonly JournalWork[] _works;
    private readonly Exception? _fault;

    private Answers(JournalWork[] works, Exception? fault) => (_works, _fault) = (works, fault);

    /// <summary>For the writer's thread, which does not wait for it.</summary>
    public static void Tell(ReadOnlySpan<JournalWork> works, Exception? fault)
    {
        var atOnce = Math.Clamp(works.Length / (2 * Environment.ProcessorCount), 1, MostAtOnce);
        foreach (var work in works)
        {
            work.IsTold = true;
        }

        for (; !works.IsEmpty; works = works[Math.Min(atOnce, works.Length)..])
        {
            ThreadPool.UnsafeQueueUserWorkItem(new Answers(works[..Math.Min(atOnce, works.Length)].ToArray(), fault), preferLocal: false);
        }
    }

    public void Execute()
    {
        foreach (var work in _works)
        {
            work.Tell(_fault);
        }
    }
}
