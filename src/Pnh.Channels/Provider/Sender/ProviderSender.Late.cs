using Pnh.Channels.Net.Http;
using Pnh.Channels.Provider.Connections;
using Pnh.Core.Push;

namespace Pnh.Channels.Provider.Sender;

/// <summary>What becomes of a request whose answer did not come in time.</summary>
internal abstract partial class ProviderSender
{
    /// <summary>
    /// Waits on for its answer, at most half a minute. What it says of the delivery counts, and of the connection and the address; of the credential it says nothing
    /// new, since that may have been replaced meanwhile.
    /// </summary>
    private async Task<DeliveryResult> ReadLateAsync(LateRequest late, Delivery delivery, CancellationToken cancellationToken)
    {
        var (answered, proven) = (false, false);
        var isWaited = _trunk.Late.TryAdd();
        try
        {
            if (isWaited)
            {
                _connections.Unanswered(late.Place);
            }

            using var answer = await late.Wait.LateAsync(isWaited ? LateRequests.Longest : TimeSpan.Zero, Time, cancellationToken);
            answered = answer.Fault == SendFault.None;
            if (!answered)
            {
                return Attempt.Failed(answer.Fault, answer.FaultReason!).Result;
            }

            var result = Judge(answer, late.Request, delivery, late.Place).Result;
            proven = IsProof(result.Status);
            return result.Status == DeliveryStatus.Misconfigured
                ? result with { Status = DeliveryStatus.Unavailable, RetryAfter = null }
                : result;
        }
        catch (OperationCanceledException)
        {
            // Also when the hub stops: that the push may be shown has to be known to the next run.
            return Attempt.Failed(SendFault.Ambiguous, cancellationToken.IsCancellationRequested ? Attempt.Stopped : Attempt.Timeout).Result;
        }
        finally
        {
            if (isWaited)
            {
                _trunk.Late.Remove();
            }

            _connections.Exit(late.Place, answered, proven);
        }
    }
}
