using Pnh.Core.Push;

namespace Pnh.Core.Lanes;

/// <summary>Attempts whose time is over and whose answers may still come.</summary>
internal sealed partial class DeliveryLane
{
    // A worker that waited for it would be missing to the others; the sender bounds how many there are.
    private async Task FollowLateAsync(Delivery delivery, DeliveryResult soFar)
    {
        try
        {
            _owner.AnswerIsLate(this, delivery, soFar);
            _owner.Completed(this, delivery, await soFar.Late!.ConfigureAwait(false));
        }
        catch (OperationCanceledException) when (_stopping.IsCancellationRequested)
        {
            // The hub stops: the journal holds it, and that it may be shown.
        }
        catch (Exception bug)
        {
            _owner.Failed(this, delivery, bug);
        }

        lock (_gate)
        {
            _late--;
            EndWhenIdle();
        }
    }

    private void BeginLate()
    {
        lock (_gate)
        {
            _late++;
        }
    }
}
