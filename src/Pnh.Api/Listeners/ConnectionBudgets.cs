using System.Net;
using Pnh.Api.Configuration;
using Pnh.Channels.Net.Epoll;
using Pnh.Core.Diagnostics;
using Prometheus;

namespace Pnh.Api.Listeners;

/// <summary>
/// How many connections each listener may have open. The operations listener has its own, so that no flood of the public one starves it. Dealt out when
/// everything but the listeners is open. Thread-safe.
/// </summary>
internal sealed class ConnectionBudgets
{
    private readonly PnhOptions _options;
    private readonly TimeProvider _time;
    private readonly ILogger _log;
    private readonly Lazy<DescriptorPlan> _plan;
    private readonly Lazy<ConnectionBudget> _public;
    private readonly Lazy<ConnectionBudget> _operations;

    /// <param name="options">The configuration.</param>
    /// <param name="time">Time.</param>
    /// <param name="log">Log of the budgets.</param>
    /// <param name="plan">How the descriptors are dealt out; null = by the limit of the process.</param>
    public ConnectionBudgets(PnhOptions options, TimeProvider time, ILogger<ConnectionBudget> log, DescriptorPlan? plan = null)
    {
        _options = options;
        _time = time;
        _log = log;
        _plan = plan is null ? new(Plan) : new(plan);
        _public = new(MakePublic);
        _operations = new(MakeOperations);
    }

    /// <summary>Publishers and clients. Throws <see cref="DescriptorException"/> when there are too few descriptors.</summary>
    public ConnectionBudget Public => _public.Value;

    /// <summary>Operators. Throws as <see cref="Public"/> does.</summary>
    public ConnectionBudget Operations => _operations.Value;

    /// <summary>The budget of an address that the hub listens on. The server clones the end points of localhost; a port is never shared.</summary>
    public ConnectionBudget Of(IPEndPoint endPoint) =>
        endPoint is OperationsEndPoint || (endPoint.Port != 0 && _options.OperationsUrls.Any(url => url.Port == endPoint.Port)) ? Operations : Public;

    /// <summary>Exports both.</summary>
    public void Export(CollectorRegistry registry)
    {
        var metrics = new ListenerMetrics(registry);
        foreach (var budget in new[] { Public, Operations })
        {
            metrics.Add(
                budget.Name, budget.Capacity, () => budget.Count, () => budget.Evicted,
                [("full", () => budget.RefusedFull), ("address", () => budget.RefusedAddress), ("descriptors", () => budget.RefusedDescriptors)]);
        }
    }

    private DescriptorPlan Plan()
    {
        LateAssemblies.Load();
        var plan = DescriptorPlan.Read();
        if (_options.IsMaxConnectionsSet)
        {
            plan.Require(_options.Sockets.MaxConnections);
        }

        return plan;
    }

    private ConnectionBudget MakePublic()
    {
        var capacity = _plan.Value.Public;
        var perAddress = _options.Limits.ConnectionsPerAddress ?? Math.Max(1, capacity / DescriptorPlan.AddressShare);
        return new("public", capacity, perAddress, _plan.Value.HighestPublic, _time, _log);
    }

    private ConnectionBudget MakeOperations() => new("operations", _plan.Value.Operations, perAddress: 0, _plan.Value.HighestOperations, _time, _log);
}

/// <summary>An address of the operations listener. The mark is the type: with port 0 nothing else tells it from a public one.</summary>
internal sealed class OperationsEndPoint(IPAddress address, int port) : IPEndPoint(address, port);
