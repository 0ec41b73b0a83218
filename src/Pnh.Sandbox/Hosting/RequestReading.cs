using System.Buffers;
using System.IO.Pipelines;
using Microsoft.AspNetCore.Http;
using Pnh.Sandbox.Phones;

namespace Pnh.Sandbox.Hosting;

/// <summary>Requests read whole, as the stand-ins need them.</summary>
internal static class RequestReading
{
    /// <summary>The body, or its first bytes when it is longer than <paramref name="enough"/> (at least one byte more than that).</summary>
    public static async ValueTask<ReadOnlyMemory<byte>> ReadBodyAsync(this HttpRequest request, int enough)
    {
        PipeReader reader = request.BodyReader;
        while (true)
        {
            ReadResult result = await reader.ReadAsync(request.HttpContext.RequestAborted);
            if (result.IsCompleted || result.Buffer.Length > enough)
            {
                byte[] body = result.Buffer.ToArray();
                reader.AdvanceTo(result.Buffer.End);
                return body;
            }

            reader.AdvanceTo(result.Buffer.Start, result.Buffer.End);
        }
    }

    public static ReceivedPush AsReceived(this HttpRequest request, DateTimeOffset at, ReadOnlyMemory<byte> body)
    {
        List<KeyValuePair<string, string>> headers = [];
        foreach ((string name, Microsoft.Extensions.Primitives.StringValues values) in request.Headers)
        {
            foreach (string? value in values)
            {
                headers.Add(KeyValuePair.Create(name.ToLowerInvariant(), value ?? ""));
            }
        }

        return new ReceivedPush(at, headers, body);
    }
}
