namespace Pnh.Storage.Segments;

/// <summary>Waits until all that was noted before is on stable storage. Writes nothing itself, so it fails only with what it waits for.</summary>
internal sealed class FlushWork : JournalWork
{
    private readonly TaskCompletionSource _waiter = new(TaskCreationOptions.RunContinuationsAsynchronously);

    public Task Task => _waiter.Task;

    public override int MostBytes => 0;

    public override void Apply(JournalWriter writer)
    {
    }

    public override bool TryAnswer(JournalWriter writer) => false;

    protected override void Committed() => _waiter.SetResult();

    protected override void Failed(Exception reason) => _waiter.SetException(reason);
}
