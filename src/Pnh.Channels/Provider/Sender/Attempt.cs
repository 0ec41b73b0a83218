using Pnh.Channels.Net.Http;
using Pnh.Channels.Provider.Connections;
using Pnh.Core.Push;

namespace Pnh.Channels.Provider.Sender;

/// <summary>What became of one request: what the pipeline decides by.</summary>
/// <param name="Result">What it means for the delivery.</param>
/// <param name="Fault">Why there was no answer.</param>
/// <param name="HttpStatus">Of the answer; 0 = none.</param>
internal readonly record struct Attempt(DeliveryResult Result, SendFault Fault, int HttpStatus)
{
    /// <summary>The reason of a request that was not answered in time.</summary>
    public const string Timeout = "timeout";

    /// <summary>That of one which was under way when its caller stopped.</summary>
    public const string Stopped = "stopped";

    /// <summary>The request that is still under way; null = this is the end of it.</summary>
    public LateRequest? Late { get; init; }

    /// <summary>Surely not carried out, by what the network said.</summary>
    public bool IsUnsent => Fault is SendFault.NotSent or SendFault.Refused or SendFault.AboveLastStream;

    /// <summary>The network or the provider failed us. That all our connections were full is nobody's failure.</summary>
    public bool IsFault => Fault != SendFault.None && Result.Reason != ConnectionPlace.Busy;

    /// <summary>An answer.</summary>
    public static Attempt Answered(in DeliveryResult result, int httpStatus) => new(result, SendFault.None, httpStatus);

    /// <summary>A result without a request: no credential, an endpoint that may not be dialled.</summary>
    public static Attempt Of(in DeliveryResult result) => new(result, SendFault.None, 0);

    /// <summary>The same as what came behind another request of its attempt, if there was one.</summary>
    public Attempt After(bool isAsked) => isAsked && Result.IsUnasked ? this with { Result = Result with { WasAsked = true } } : this;

    /// <summary>No answer came.</summary>
    public static Attempt Failed(SendFault fault, string reason) => new(
        new DeliveryResult
        {
            Status = DeliveryStatus.Unavailable,
            Reason = reason,
            IsUnasked = fault == SendFault.NotSent,
            IsUnknown = fault == SendFault.Ambiguous,
            IsCutOff = fault == SendFault.Ambiguous && reason == ProviderAnswer.ConnectionLost,
        },
        fault,
        0);

    /// <summary>No answer came in time.</summary>
    public static Attempt Unanswered(LateRequest late) => Failed(SendFault.Ambiguous, Timeout) with { Late = late };
}
