using System.IO.Compression;
using System.Text;
using Microsoft.Net.Http.Headers;

namespace Pnh.Api.Documents;

/// <summary>
/// The client for browsers, as pages load it: the committed modules without the lines that are comments and without indentation, which were a third of what went over the wire, compressed where the browser takes gzip. Made with the
/// first request. Thread-safe.
/// </summary>
internal static class ClientScripts
{
    /// <summary>The module that pages load, and those that it loads by itself.</summary>
    public static IReadOnlyList<string> Connection { get; } = ["pnh.js", "pnh-events.js", "pnh-kept.js", "pnh-tabs.js", "pnh-token.js", "pnh-topics.js"];

    /// <summary>All: requests and Web Push for pages that want them, and its service worker, too.</summary>
    public static IReadOnlyList<string> Names { get; } = [.. Connection, "pnh-http.js", "pnh-push.js", "pnh-sw.js"];

    private static readonly Lazy<Dictionary<string, Script>> Scripts = new(static () => Names.ToDictionary(static name => name, static name => Make(EmbeddedFile.ReadText(name)), StringComparer.Ordinal));

    /// <summary>Sends the module. A page of any origin may load it, as from any other address of scripts: what it can do is decided by tokens.</summary>
    public static Task WriteAsync(HttpContext context, string name)
    {
        var response = context.Response;
        var script = Scripts.Value[name];
        var isCompressed = context.Request.GetTypedHeaders().AcceptEncoding.Any(static coding => coding.Value == "gzip" && coding.Quality != 0);
        response.Headers.AccessControlAllowOrigin = "*";
        response.Headers.XContentTypeOptions = "nosniff";
        response.Headers.CacheControl = "public, max-age=600";
        response.Headers.Vary = HeaderNames.AcceptEncoding;
        response.Headers["Service-Worker-Allowed"] = "/";
        response.Headers.ContentEncoding = isCompressed ? "gzip" : default;
        response.ContentType = "text/javascript; charset=utf-8";
        var bytes = isCompressed ? script.Compressed : script.Plain;
        response.ContentLength = bytes.Length;
        return response.Body.WriteAsync(bytes, context.RequestAborted).AsTask();
    }

    // The lines keep their numbers. No text in the modules goes over several lines, or has what begins a comment behind code.
    private static string Shorten(string module) => string.Join('\n', module.Split('\n').Select(static line => line.Trim()).Select(static line => IsComment(line) ? "" : line.Split(" // ")[0].TrimEnd()));

    private static bool IsComment(ReadOnlySpan<char> line) => line.StartsWith("//") || line.StartsWith("/**") || line.StartsWith("* ") || line is "*/";

    private static Script Make(string module)
    {
        var plain = Encoding.UTF8.GetBytes(Shorten(module));
        var compressed = new MemoryStream();
        using (var gzip = new GZipStream(compressed, CompressionLevel.SmallestSize))
        {
            gzip.Write(plain);
        }

        return new Script(plain, compressed.ToArray());
    }

    private sealed record Script(ReadOnlyMemory<byte> Plain, ReadOnlyMemory<byte> Compressed);
}
