namespace Pnh.Core.Push;

/// <summary>The ledger's states of a planned delivery: all but the first are terminal. Numbers are stored: never renumber.</summary>
internal enum DeliveryState
{
    Pending = 0,
    Acked = 1,
    Accepted = 2,
    Expired = 3,
    Withdrawn = 4,
    Suppressed = 5,
    Failed = 6,

    /// <summary>A provider was asked and may have taken it, which nobody knows: it may be on the screen.</summary>
    Unconfirmed = 7,
}

/// <summary>The names of a delivery's states in journal and timeline.</summary>
public static class DeliveryStateNames
{
    /// <summary>Of one that has no end yet.</summary>
    public const string Pending = "pending";

    /// <summary>Of one that the provider took.</summary>
    public const string Accepted = "accepted";

    /// <summary>Of one whose push did not go out, and will not.</summary>
    public const string Failed = "failed";

    /// <summary>Of one whose TTL ended first.</summary>
    public const string Expired = "expired";

    /// <summary>Of one that a provider may have taken.</summary>
    public const string Unconfirmed = "unconfirmed";

    /// <summary>True for the end of a delivery that did not arrive, as far as the hub knows.</summary>
    public static bool IsFailure(string? state) => state is Failed or Expired or Unconfirmed;

    /// <summary>All of them.</summary>
    public static IReadOnlyList<string> All { get; } = Array.ConvertAll(Enum.GetValues<DeliveryState>(), static state => state.Label());

    /// <summary>The label in journal and timeline; throws on a value outside the enum.</summary>
    internal static string Label(this DeliveryState state) => state switch
    {
        DeliveryState.Pending => Pending,
        DeliveryState.Acked => "acked",
        DeliveryState.Accepted => Accepted,
        DeliveryState.Expired => Expired,
        DeliveryState.Withdrawn => "withdrawn",
        DeliveryState.Suppressed => "suppressed",
        DeliveryState.Failed => Failed,
        DeliveryState.Unconfirmed => Unconfirmed,
        _ => throw new ArgumentOutOfRangeException(nameof(state), state, null),
    };
}
