using System.Collections.Frozen;
using System.Diagnostics.Metrics;

namespace Pnh.Core.Diagnostics;

/// <summary>How an instrument of the runtime is exported.</summary>
internal enum RuntimeKind
{
    Counter,
    Gauge,
    Histogram,
}

/// <summary>Which instruments of .NET are exported, under which name and with which labels.</summary>
internal static class RuntimeNames
{
    /// <summary>
    /// Tags that become labels. All take few values: addresses and peers are left out, and their series summed.
    /// </summary>
    public static readonly string[] Labels =
    [
        "error.type", "cpu.mode", "gc.heap.generation", "dotnet.gc.heap.generation", "http.connection.state", "network.protocol.version",
        "network.transport", "server.port", "tls.protocol.version",
    ];

    /// <summary>
    /// Kestrel and the HTTP client: what moves per connection, nothing that moves per request. A request is measured by the hub's own
    /// histograms, and a listener costs 28 ns for each record.
    /// </summary>
    private static readonly FrozenSet<string> Instruments = FrozenSet.Create(
        StringComparer.Ordinal,
        "kestrel.active_connections", "kestrel.connection.duration", "kestrel.rejected_connections", "kestrel.queued_connections",
        "kestrel.upgraded_connections", "kestrel.active_tls_handshakes", "kestrel.tls_handshake.duration",
        "http.client.open_connections", "http.client.connection.duration");

    /// <summary>Two values that fall as well as rise, published by the runtime as ObservableCounter; as <c>_total</c> they would lie.</summary>
    private static readonly FrozenSet<string> GaugesInDisguise = FrozenSet.Create(
        StringComparer.Ordinal, "dotnet.thread_pool.thread.count", "dotnet.thread_pool.queue.length");

    /// <summary>True for an instrument on the allow-list.</summary>
    public static bool IsExported(Instrument instrument) => instrument.Meter.Name switch
    {
        "System.Runtime" => instrument.Name.StartsWith("dotnet.", StringComparison.Ordinal),
        "Microsoft.AspNetCore.Server.Kestrel" or "System.Net.Http" => Instruments.Contains(instrument.Name),
        _ => false,
    };

    /// <summary>Whether it is exported as counter, gauge or histogram; null when it is of a kind that PNH does not know.</summary>
    public static RuntimeKind? KindOf(Instrument instrument)
    {
        var type = instrument.GetType();
        var generic = type.IsGenericType ? type.GetGenericTypeDefinition() : null;
        if (generic == typeof(Histogram<>))
        {
            // Only durations: the hub's histograms are in seconds.
            return instrument.Unit == "s" ? RuntimeKind.Histogram : null;
        }

        if (generic == typeof(Counter<>) || generic == typeof(ObservableCounter<>))
        {
            return GaugesInDisguise.Contains(instrument.Name) ? RuntimeKind.Gauge : RuntimeKind.Counter;
        }

        return generic == typeof(UpDownCounter<>) || generic == typeof(ObservableUpDownCounter<>) ||
            generic == typeof(Gauge<>) || generic == typeof(ObservableGauge<>)
            ? RuntimeKind.Gauge
            : null;
    }

    /// <summary>
    /// The Prometheus name: dots become underscores, a trailing <c>.count</c> goes (it is reserved for histograms), the unit is appended,
    /// counters end in <c>_total</c>. <c>dotnet.gc.pause.time</c> in s is <c>dotnet_gc_pause_time_seconds_total</c>.
    /// </summary>
    public static string NameOf(Instrument instrument, RuntimeKind kind)
    {
        var name = instrument.Name;
        if (name.EndsWith(".count", StringComparison.Ordinal))
        {
            name = name[..^".count".Length];
        }

        name = LabelOf(name);
        name = instrument.Unit switch
        {
            "s" => name + "_seconds",
            "By" => name + "_bytes",
            "1" => name + "_ratio",
            _ => name,
        };
        return kind == RuntimeKind.Counter ? name + "_total" : name;
    }

    /// <summary>A tag's name as a label's: every character that Prometheus does not know becomes an underscore.</summary>
    public static string LabelOf(string tag) => string.Create(tag.Length, tag, static (span, source) =>
    {
        for (var i = 0; i < span.Length; i++)
        {
            span[i] = char.IsAsciiLetterOrDigit(source[i]) ? source[i] : '_';
        }
    });
}
