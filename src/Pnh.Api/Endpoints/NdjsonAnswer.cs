using System.Buffers;
using System.Text.Json;

namespace Pnh.Api.Endpoints;

/// <summary>One line of an NDJSON answer.</summary>
internal static class NdjsonAnswer
{
    internal static void WriteLine(IBufferWriter<byte> output, Action<Utf8JsonWriter> members)
    {
        using (var json = new Utf8JsonWriter(output))
        {
            json.WriteStartObject();
            members(json);
            json.WriteEndObject();
        }

        output.Write("\n"u8);
    }
}
