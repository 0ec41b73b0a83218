using Pnh.Core.Push;

namespace Pnh.Core.Lanes;

/// <summary>Who decides before an attempt and learns what became of it. Called on a worker.</summary>
internal interface ILaneOwner
{
    /// <summary>Brings the delivery's address up to date, just before an attempt; false = it must not be sent, and its owner has seen to that.</summary>
    ValueTask<bool> PrepareAsync(DeliveryLane lane, Delivery delivery);

    /// <summary>The attempt's time is over and its answer may still come: <see cref="Completed"/> follows.</summary>
    void AnswerIsLate(DeliveryLane lane, Delivery delivery, in DeliveryResult soFar);

    void Completed(DeliveryLane lane, Delivery delivery, in DeliveryResult answer);

    void Failed(DeliveryLane lane, Delivery delivery, Exception bug);
}
