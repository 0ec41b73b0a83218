using System.Collections.Concurrent;
using Pnh.Core.Diagnostics.Exposition;
using Prometheus;

namespace Pnh.Core.Diagnostics;

/// <summary>How long answers to requests took, by method, route and status. Thread-safe.</summary>
public sealed class RequestMetrics
{
    private static readonly double[] Bounds = [0.001, 0.005, 0.025, 0.1, 0.5, 2.5, 10];

    private readonly ConcurrentDictionary<(string Method, string Route), RouteMetrics> _routes = new();
    private readonly Func<string[], StripedDurations> _durations;

    /// <summary>Adds the family.</summary>
    public RequestMetrics(CollectorRegistry registry) => _durations = new CollectFeed(registry).Durations(
        "pnh_http_request_seconds", "From a request's head to the end of its answer, on the public listener.", Bounds, "method", "route", "status");

    /// <summary>Of single events, which the direct transport answers without a route.</summary>
    public RouteMetrics OfEvents => Of("POST", "/v1/events");

    /// <summary>The series of one route; the caller keeps it. A series is on the page from its first answer on.</summary>
    /// <param name="method">As in the request line. Bounded by the caller, as is the route.</param>
    /// <param name="route">The pattern, not the path: <c>/v1/events/{id}</c>.</param>
    public RouteMetrics Of(string method, string route) =>
        _routes.GetOrAdd((method, route), static (key, durations) => new RouteMetrics(key.Method, key.Route, durations), _durations);
}

/// <summary>The answers of one route. Thread-safe; counting allocates nothing but the first time with a status.</summary>
public sealed class RouteMetrics
{
    private const int Least = 100;
    private const int Most = 599;

    private readonly StripedDurations?[] _durations = new StripedDurations?[Most - Least + 1];
    private readonly Lock _adding = new();
    private readonly string _method;
    private readonly string _route;
    private readonly Func<string[], StripedDurations> _open;

    internal RouteMetrics(string method, string route, Func<string[], StripedDurations> open) => (_method, _route, _open) = (method, route, open);

    /// <summary>A request was answered.</summary>
    /// <param name="status">100 to 599.</param>
    /// <param name="took">From its head to the end of the answer.</param>
    public void Answered(int status, TimeSpan took) => (Volatile.Read(ref _durations[status - Least]) ?? Open(status)).Record(took);

    private StripedDurations Open(int status)
    {
        lock (_adding)
        {
            var known = _durations[status - Least];
            if (known is null)
            {
                known = _open([_method, _route, status.ToString(System.Globalization.CultureInfo.InvariantCulture)]);
                Volatile.Write(ref _durations[status - Least], known);
            }

            return known;
        }
    }
}
