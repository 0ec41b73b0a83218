namespace Pnh.Core.Events;

/// <summary>
/// One thing wrong with one member of a JSON body. A body's errors are reported together; of more than <see cref="Limits.FieldErrors"/> the first, and
/// then one with the code <c>too-many-errors</c>.
/// </summary>
/// <param name="Pointer">RFC 6901 pointer to the member, e.g. <c>/to/user</c>; empty = the whole body.</param>
/// <param name="Code">Stable kebab-case code, e.g. <c>required</c>, <c>unknown-member</c>, <c>wrong-type</c>, <c>too-long</c>, <c>out-of-range</c>.</param>
/// <param name="Detail">A sentence for a person; never repeats a secret or an address.</param>
public sealed record FieldError(string Pointer, string Code, string Detail)
{
    /// <summary>Of a body that is no JSON at all, in place of all others.</summary>
    public static FieldError NoJson { get; } = new("", "invalid-json", $"Not valid JSON, or nested deeper than {Limits.JsonDepth}.");

    /// <summary>A member's name as part of a pointer (RFC 6901 section 3).</summary>
    public static string Escape(string name) => name.Replace("~", "~0", StringComparison.Ordinal).Replace("/", "~1", StringComparison.Ordinal);
}
