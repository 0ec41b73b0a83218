using Pnh.Channels.Net.Http;
using Pnh.Channels.Provider.Connections;
using Pnh.Channels.Provider.Payloads;
using Pnh.Core.Push;

namespace Pnh.Channels.Provider.Sender;

/// <summary>What an answer says of more than its delivery: of the address, the connection, the account.</summary>
internal abstract partial class ProviderSender
{
    private Attempt Judge(in ProviderAnswer answer, in ProviderRequest request, Delivery delivery, in ConnectionPlace place)
    {
        var result = Cleaned(Read(answer, request, delivery));
        if (request.Body.IsWakeUp && result.Status == DeliveryStatus.Accepted)
        {
            result = result with { Reason = FetchPush.Reason };
        }

        Remember(delivery, result);
        if (result.Status == DeliveryStatus.AddressDead && IsPerhapsOurFault(result))
        {
            result = result with { MayBeAccounts = true };
        }

        if (SpoilsConnection(request, result))
        {
            _connections.Retire(place);
        }

        return Attempt.Answered(result, answer.Status);
    }

    /// <summary>A provider's words go into log, timeline and feed.</summary>
    private static DeliveryResult Cleaned(in DeliveryResult result) => result is { Reason: null, ProviderId: null }
        ? result
        : result with
        {
            Reason = result.Reason is { } reason ? ProviderText.Clean(reason) : null,
            ProviderId = result.ProviderId is { } id ? ProviderText.Clean(id) : null,
        };

    /// <summary>What clears an event may go to another address than the delivery's.</summary>
    private void Remember(Delivery delivery, in DeliveryResult result)
    {
        if (_standing is null || delivery.Withdrawal is not null)
        {
            return;
        }

        if (result.Status == DeliveryStatus.Accepted || (result.Status == DeliveryStatus.AddressDead && IsHeldAgainstUs(result)))
        {
            _standing.Note(delivery.Address!.Value, isBad: result.Status == DeliveryStatus.AddressDead);
        }
    }

    /// <summary>The provider judged the message, so it had accepted the credential.</summary>
    private static bool IsProof(DeliveryStatus status) =>
        status is DeliveryStatus.Accepted or DeliveryStatus.AddressDead or DeliveryStatus.Rejected or DeliveryStatus.Throttled;

    private DeliveryResult? Held(Delivery delivery)
    {
        foreach (var stop in _stops)
        {
            if (stop.Hold(delivery) is { } held)
            {
                return held;
            }
        }

        return null;
    }

    /// <summary>As <see cref="Held"/>, of what was refused while the request waited for its place.</summary>
    private DeliveryResult? HeldBack(Delivery delivery)
    {
        foreach (var stop in _stops)
        {
            if (stop.HoldBack(delivery) is { } held)
            {
                return held;
            }
        }

        return null;
    }

    private DeliveryResult Conclude(in DeliveryResult result)
    {
        Note(result);

        // What was held back is no new refusal: the stop that held it may be over by now.
        if (_stops.Length == 0 || result.IsHeld)
        {
            return result;
        }

        if (result.Status == DeliveryStatus.Misconfigured)
        {
            var refusing = StopFor(result);
            foreach (var before in _stops.TakeWhile(stop => stop != refusing))
            {
                // The provider judged the topic, so the key is good: other topics need not wait until one of theirs may look.
                before.Passed();
            }

            return refusing.Refused(result);
        }

        if (IsProof(result.Status))
        {
            Array.ForEach(_stops, static stop => stop.Passed());
        }

        return result;
    }

    /// <summary>One line when an account stops working and one when it works again; each delivery of it would be a flood.</summary>
    private void Note(in DeliveryResult result)
    {
        var misconfigured = result.Status == DeliveryStatus.Misconfigured;
        if (misconfigured == _misconfigured || (!misconfigured && result.Status != DeliveryStatus.Accepted))
        {
            return;
        }

        _misconfigured = misconfigured;
        if (misconfigured)
        {
            Log.Misconfigured(_logger, _account, result.Reason);
        }
        else
        {
            Log.Accepted(_logger, _account);
        }
    }
}
