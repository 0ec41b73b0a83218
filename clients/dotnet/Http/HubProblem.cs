using Pnh.Client.Reports;

namespace Pnh.Client.Http;

/// <summary>A problem as the hub writes it (RFC 9457).</summary>
internal sealed record HubProblem(int Status, string? Code, string? Title, string? Detail, IReadOnlyList<PnhFieldError>? Errors)
{
    /// <summary>True when the same request may be taken later.</summary>
    public bool IsForNow => IsForNowStatus(Status);

    public static bool IsForNowStatus(int status) => status is 408 or 429 or >= 500;

    public PnhException ToException() => new(Status, Code ?? "", Detail ?? Title ?? $"The hub answered {Status}.", Errors);
}

/// <summary>A line of the answer to many events.</summary>
internal sealed record BatchLine(int? Index, string? Id, bool? Durable, bool? Duplicate, int? Devices, HubProblem? Problem, bool? Done);

/// <summary>Body of a withdrawal.</summary>
internal sealed record WithdrawBody(string? Reason, string? User);

/// <summary>The answer to it.</summary>
internal sealed record WithdrawAnswer(bool? Duplicate);
