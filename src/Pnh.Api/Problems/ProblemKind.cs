namespace Pnh.Api.Problems;

/// <summary>A kind of refusal that clients can hold on to.</summary>
/// <param name="Code">Stable, kebab-case.</param>
/// <param name="Status">HTTP status.</param>
/// <param name="Title">Short text, the same for every occurrence (RFC 9457 section 3.1.3).</param>
/// <param name="Remedy">What the caller can do: the detail of a problem that has nothing more to say, and documentation.</param>
internal sealed record ProblemKind(string Code, int Status, string Title, string Remedy)
{
    /// <summary>RFC 9457 <c>type</c>: a name, not an address to fetch.</summary>
    public string Type { get; } = $"urn:pnh:problem:{Code}";

    /// <summary>Where the hub's own documents say what to do about it: a path on the listener that answered.</summary>
    public string Help { get; } = $"/docs/errors#{Code}";
}
