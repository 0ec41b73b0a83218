using Pnh.Storage.Segments.Index;

namespace Pnh.Storage.Segments;

/// <summary>
/// A question to the index that is answered when everything the index knew is on stable storage. Asked from elsewhere it may name a place that is only
/// being written: that of an event which is carried out of an old segment just now.
/// </summary>
/// <param name="ask">Called on the writer's thread.</param>
internal sealed class IndexWork<T>(Func<EventIndex, T> ask) : JournalWork
{
    private readonly TaskCompletionSource<T> _waiter = new(TaskCreationOptions.RunContinuationsAsynchronously);
    private T _answer = default!;

    public Task<T> Task => _waiter.Task;

    public override int MostBytes => 0;

    public override void Apply(JournalWriter writer) => _answer = ask(writer.Index);

    public override bool TryAnswer(JournalWriter writer)
    {
        Apply(writer);
        return true;
    }

    protected override void Committed() => _waiter.SetResult(_answer);

    protected override void Failed(Exception reason) => _waiter.SetException(reason);
}
