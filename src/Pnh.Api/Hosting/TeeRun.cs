using System.Buffers;
using System.Text;
using System.Text.Json;
using Pnh.Api.Commands;
using Pnh.Api.Configuration;
using Pnh.Channels.Links;
using Pnh.Channels.Links.Protocol;

namespace Pnh.Api.Hosting;

/// <summary><c>pnh tee</c>: a link to a hub, whose copies are printed. It is configured as an edge is.</summary>
internal static class TeeRun
{
    /// <summary>Runs until it is cancelled.</summary>
    public static async Task<int> RunAsync(TeeRequest request, CommandOutput output, CancellationToken cancellationToken)
    {
        var read = PnhConfiguration.Read(HubBuilder.Create(request.Configuration).Configuration, KnownKeys.Edge(), Environment.CurrentDirectory);
        var cluster = read.Options.Cluster;
        cluster.CheckHubs(read.Errors);
        read.Errors.WriteTo(output.Error);
        if (!read.Errors.None)
        {
            return ConfigurationErrors.ExitCode;
        }

        var self = LinkHello.Of($"{Environment.MachineName}:{Environment.ProcessId}", "", [request.App], ProgramVersion.Text, TimeProvider.System);
        var hubs = cluster.Hubs.Select(static hub => new UriBuilder(hub) { Path = ClusterOptions.TeePath }.Uri).ToList();
        var tee = new TeeClient(
            hubs, cluster.Keys[0].Secret, self, copy => output.Out.WriteLine(Line(copy)), said => output.Error.WriteLine($"pnh: {said}"), TimeProvider.System);
        await tee.RunAsync(cancellationToken);
        return 0;
    }

    /// <summary>A copy as a line: <c>event</c> is what was posted, the rest is what the hub made of it.</summary>
    internal static string Line(in TeeCopy copy)
    {
        var line = new ArrayBufferWriter<byte>(copy.Body.Length + 256);
        using (var json = new Utf8JsonWriter(line))
        {
            json.WriteStartObject();
            json.WriteString("app"u8, copy.App);
            json.WriteString("id"u8, copy.Id);
            json.WriteString("acceptedAt"u8, copy.AcceptedAt);
            json.WriteString("expiresAt"u8, copy.ExpiresAt);
            if (copy.TraceParent is { } trace)
            {
                json.WriteString("traceparent"u8, trace);
            }

            json.WritePropertyName("event"u8);
            using (var body = JsonDocument.Parse(copy.Body)) // as one line, whatever it was posted as
            {
                body.WriteTo(json);
            }

            json.WriteEndObject();
        }

        return Encoding.UTF8.GetString(line.WrittenSpan);
    }
}
