using System.Collections.Frozen;
using System.Diagnostics.Metrics;

namespace Pnh.Core.Diagnostics;

/// <summary>Which instruments of .NET, and of libraries, are exported. The library's adapter names them: meter, underscore, instrument, dots as underscores; a counter is a gauge there.</summary>
internal static class RuntimeMeters
{
    /// <summary>
    /// Of Kestrel and the HTTP client what moves once a connection: a request is measured by the hub's own histograms. Nothing that counts up and down: the adapter forgets a
    /// series that did not move for five minutes, and would go on from zero (<c>pnh_connections</c> has them).
    /// </summary>
    private static readonly FrozenSet<string> Instruments = FrozenSet.Create(
        StringComparer.Ordinal, "kestrel.connection.duration", "kestrel.rejected_connections", "kestrel.tls_handshake.duration", "http.client.connection.duration");

    /// <summary>True for what is exported.</summary>
    public static bool IsExported(Instrument instrument) => instrument.Meter.Name switch
    {
        // A name that ends in count is a histogram's alone (promtool check metrics).
        "System.Runtime" => instrument.Name.StartsWith("dotnet.", StringComparison.Ordinal) && !instrument.Name.EndsWith(".count", StringComparison.Ordinal),
        "Microsoft.AspNetCore.Server.Kestrel" or "System.Net.Http" => Instruments.Contains(instrument.Name),

        // A retry, a breaker that opens: seldom. The durations beside it are of each request.
        "Polly" => instrument.Name == "resilience.polly.strategy.events",
        _ => false,
    };
}
