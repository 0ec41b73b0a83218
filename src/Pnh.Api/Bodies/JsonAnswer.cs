using System.Text.Json;
using System.Text.Json.Serialization.Metadata;

namespace Pnh.Api.Bodies;

/// <summary>A short answer in JSON: written whole, then sent.</summary>
internal static class JsonAnswer
{
    /// <summary>What <paramref name="write"/> writes.</summary>
    internal static Task WriteAsync(HttpResponse response, Action<Utf8JsonWriter> write)
    {
        response.ContentType = RequestBody.Json;
        using (var json = new Utf8JsonWriter(response.BodyWriter))
        {
            write(json);
        }

        return response.BodyWriter.FlushAsync().AsTask();
    }

    /// <summary>A record, as its context writes it.</summary>
    internal static Task WriteAsync<T>(HttpResponse response, T body, JsonTypeInfo<T> type) =>
        WriteAsync(response, json => JsonSerializer.Serialize(json, body, type));

    /// <summary>To an operator: with a status, and kept by no cache on its way, as it may hold a secret.</summary>
    internal static Task WriteSecretAsync<T>(HttpResponse response, int status, T body, JsonTypeInfo<T> type)
    {
        response.StatusCode = status;
        response.Headers.CacheControl = "no-store";
        return WriteAsync(response, body, type);
    }
}
