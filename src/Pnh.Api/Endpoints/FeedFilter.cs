using Pnh.Core.Journal;

namespace Pnh.Api.Endpoints;

/// <summary>Which lines of the feed are asked for.</summary>
/// <param name="User">Those that name that user; null = all.</param>
/// <param name="State">Those of a delivery that came to that state; null = all.</param>
internal readonly record struct FeedFilter(string? User, string? State)
{
    public bool Passes(in FeedEntry entry) =>
        (User is null || User == (entry.Outcome?.User ?? entry.Address?.User)) && (State is null || State == entry.Outcome?.State);
}
