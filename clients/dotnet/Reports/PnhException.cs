namespace Pnh.Client.Reports;

/// <summary>The hub refused, or could not be reached for as long as was tried.</summary>
public sealed class PnhException : Exception
{
    /// <summary>As the hub's problem says it (RFC 9457).</summary>
    public PnhException(int status, string code, string message, IReadOnlyList<PnhFieldError>? errors = null, Exception? inner = null)
        : base(message, inner)
    {
        Status = status;
        Code = code;
        Errors = errors ?? [];
    }

    /// <summary>What <see cref="Code"/> is when no answer came.</summary>
    public const string Unreachable = "unreachable";

    /// <summary>HTTP status; 0 = no answer came.</summary>
    public int Status { get; }

    /// <summary>The problem's code, in kebab-case, such as <c>invalid-body</c>; it never changes its meaning.</summary>
    public string Code { get; }

    /// <summary>Of a join that was refused (<c>not-allowed</c>, <c>too-many-topics</c>): which topics; empty for anything else.</summary>
    public IReadOnlyList<string> Topics { get; init; } = [];

    /// <summary>What is wrong in the body, one each; empty when it is not about the body.</summary>
    public IReadOnlyList<PnhFieldError> Errors { get; }
}

/// <summary>A member of a body that the hub does not take.</summary>
/// <param name="Pointer">Where, as a JSON pointer (RFC 6901); empty = the whole body.</param>
/// <param name="Code">What is wrong, in kebab-case.</param>
/// <param name="Detail">The same for a person.</param>
public sealed record PnhFieldError(string Pointer, string Code, string Detail);
