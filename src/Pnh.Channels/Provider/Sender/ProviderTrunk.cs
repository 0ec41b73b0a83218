using Pnh.Channels.Provider.Connections;
using Polly;
using Polly.CircuitBreaker;

namespace Pnh.Channels.Provider.Sender;

/// <summary>
/// What the senders of one credential and class have in common: the connections, and over them the pipeline with its retry budget and breaker. Classes never
/// share one: a bulk list that a provider is tired of must not close the way for calls. Thread-safe.
/// </summary>
internal sealed class ProviderTrunk : IAsyncDisposable
{
    private readonly ProviderGauges _gauges;
    private readonly CircuitBreakerStateProvider _breaker = new();

    /// <param name="connections">Owned from now on.</param>
    /// <param name="pipeline">Times and meanings.</param>
    /// <param name="services">Of the process.</param>
    public ProviderTrunk(IConnectionSource connections, ProviderPipelineOptions pipeline, ProviderServices services)
    {
        Connections = connections;
        Late = new LateRequests(connections.MaxLate);
        Pipeline = ProviderPipeline.Build(services.Gauges.Channel, pipeline, Budget, services.Time, _breaker);
        _gauges = services.Gauges;
        _gauges.AddBreaker(IsNotClosed);
    }

    public IConnectionSource Connections { get; }

    public ResiliencePipeline<Attempt> Pipeline { get; }

    public RetryBudget Budget { get; } = new();

    public LateRequests Late { get; }

    /// <summary>Whether it is closed to requests for now, because the provider failed too often.</summary>
    public CircuitState Breaker => _breaker.CircuitState;

    /// <summary>Called when a sender is done with it; set where several share it. Null = the sender's alone.</summary>
    public Func<ProviderTrunk, bool>? Release { get; init; }

    public ValueTask DisposeAsync()
    {
        if (Release?.Invoke(this) == false)
        {
            return ValueTask.CompletedTask;
        }

        _gauges.RemoveBreaker(IsNotClosed);
        return Connections.DisposeAsync();
    }

    private bool IsNotClosed() => Breaker is not CircuitState.Closed;
}

/// <summary>Trunks by what their senders must have in common. The last sender that lets go of one ends it. Thread-safe.</summary>
internal sealed class TrunkTable<TKey>
    where TKey : notnull
{
    private readonly Lock _lock = new();
    private readonly Dictionary<TKey, (ProviderTrunk Trunk, int Senders)> _trunks = [];

    /// <summary>The one of the key, made when there is none; <paramref name="make"/> puts the function that it is given into <see cref="ProviderTrunk.Release"/>.</summary>
    public ProviderTrunk Take(TKey key, Func<TKey, Func<ProviderTrunk, bool>, ProviderTrunk> make)
    {
        lock (_lock)
        {
            var trunk = _trunks.TryGetValue(key, out var known) ? known.Trunk : make(key, _ => IsLast(key));
            _trunks[key] = (trunk, known.Senders + 1);
            return trunk;
        }
    }

    private bool IsLast(TKey key)
    {
        lock (_lock)
        {
            var (trunk, senders) = _trunks[key];
            if (senders > 1)
            {
                _trunks[key] = (trunk, senders - 1);
                return false;
            }

            return _trunks.Remove(key);
        }
    }
}
