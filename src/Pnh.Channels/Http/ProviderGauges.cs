using System.Collections.Immutable;

namespace Pnh.Channels.Http;

/// <summary>Where a provider connection stands.</summary>
public enum ConnectionState
{
    /// <summary>Open, but no authenticated answer has come yet: one request at a time where the provider wants it so.</summary>
    Cold,

    /// <summary>Open and proven.</summary>
    Warm,
}

/// <summary>
/// What a channel's lanes have open and under way, for <c>pnh_provider_connections</c> and <c>pnh_provider_in_flight</c>. One per provider
/// channel, registered as a service; counted per lane and summed when read. Thread-safe.
/// </summary>
public sealed class ProviderGauges
{
    private ImmutableArray<ConnectionGate> _gates = [];

    /// <summary>For the channel of this name.</summary>
    public ProviderGauges(string channel) => Channel = channel;

    /// <summary>Channel name: the label.</summary>
    public string Channel { get; }

    /// <summary>Requests handed to a connection and not answered yet, those that wait for a cold connection not counted.</summary>
    public long InFlight
    {
        get
        {
            long sum = 0;
            foreach (var gate in _gates)
            {
                sum += gate.InFlight;
            }

            return sum;
        }
    }

    /// <summary>Open connections in this state.</summary>
    public long Connections(ConnectionState state)
    {
        long sum = 0;
        foreach (var gate in _gates)
        {
            sum += gate.Connections(state);
        }

        return sum;
    }

    internal void Add(ConnectionGate gate) => ImmutableInterlocked.Update(ref _gates, static (all, one) => all.Add(one), gate);

    internal void Remove(ConnectionGate gate) => ImmutableInterlocked.Update(ref _gates, static (all, one) => all.Remove(one), gate);
}
