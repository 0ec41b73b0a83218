using System.Runtime.CompilerServices;
using OpenTelemetry.Exporter;
using OpenTelemetry.Resources;
using OpenTelemetry.Trace;
using Pnh.Api.Configuration;
using Pnh.Core.Events;

namespace Pnh.Api.Operations;

/// <summary>Gives the spans of <see cref="EventTraces"/> to a collector: those of traces that the publisher has sampled.</summary>
internal static class OtlpExport
{
    /// <summary>Nothing, unless the configuration names a collector; then no assembly of it is loaded either.</summary>
    public static IServiceCollection AddTracing(this IServiceCollection services, PnhOptions options) =>
        options.Tracing.Otlp is { } address ? Add(services, new Uri(address), options.NodeName) : services;

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static IServiceCollection Add(IServiceCollection services, Uri address, string node)
    {
        services.AddOpenTelemetry()
            .ConfigureResource(resource => resource.AddService("pnh", serviceVersion: ProgramVersion.Text, serviceInstanceId: node))
            .WithTracing(tracing => tracing
                .AddSource(EventTraces.SourceName)
                .SetSampler(new ParentBasedSampler(new AlwaysOffSampler()))
                .AddOtlpExporter(exporter => (exporter.Endpoint, exporter.Protocol) = (address, OtlpExportProtocol.HttpProtobuf)));
        return services;
    }
}
