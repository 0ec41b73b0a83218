using System.IO.Compression;
using System.Text;
using System.Text.RegularExpressions;
using Microsoft.Net.Http.Headers;

namespace Pnh.Api.Documents;

/// <summary>
/// The client for browsers, as pages load it: each script with the modules that it imports in one, so that a page asks once and never mixes two versions of them; without comments and indentation, which were a third of what
/// went over the wire, and with short names where only a class itself uses them; compressed where the browser takes gzip. Made with the first request. Thread-safe.
/// </summary>
internal static partial class ClientScripts
{
    /// <summary>The client, requests and Web Push for pages that want them, and its service worker.</summary>
    public static IReadOnlyList<string> Names { get; } = ["pnh.js", "pnh-http.js", "pnh-push.js", "pnh-sw.js"];

    private static readonly Lazy<Dictionary<string, Script>> Scripts = new(static () => Names.ToDictionary(static name => name, static name => Make(name), StringComparer.Ordinal));

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

    /// <summary>The module and all that it imports, each behind what it needs itself.</summary>
    public static IReadOnlyList<string> ModulesOf(string name)
    {
        var modules = new List<string>();
        Add(name);
        return modules;

        void Add(string module)
        {
            foreach (Match import in Import().Matches(EmbeddedFile.ReadText(module)))
            {
                if (!modules.Contains(import.Groups[1].Value))
                {
                    Add(import.Groups[1].Value);
                }
            }

            modules.Add(module);
        }
    }

    // Their names at the top are different, as a test demands; only the last one's exports stay.
    private static string Join(string name) => string.Join('\n', ModulesOf(name).Select(module =>
    {
        var text = Import().Replace(EmbeddedFile.ReadText(module), "");
        return module == name ? text : Export().Replace(text, "");
    }));

    // No text in the modules goes over several lines, or has what begins a comment behind code.
    private static string Shorten(string module) =>
        string.Join('\n', module.Split('\n').Select(static line => line.Trim()).Where(static line => !IsComment(line)).Select(static line => line.Split(" // ")[0].TrimEnd()));

    // What only a class itself names, by its place among such names.
    private static string ShortenNames(string module)
    {
        var names = new Dictionary<string, string>(StringComparer.Ordinal);
        return PrivateName().Replace(module, match =>
        {
            if (!names.TryGetValue(match.Value, out var shorter))
            {
                names.Add(match.Value, shorter = $"#{(char)('a' + (names.Count % 26))}{(names.Count < 26 ? "" : names.Count / 26)}");
            }

            return shorter;
        });
    }

    private static bool IsComment(ReadOnlySpan<char> line) => line.IsEmpty || line.StartsWith("//") || line.StartsWith("/**") || line.StartsWith("* ") || line is "*/";

    [GeneratedRegex(@"^import \{[^}]*\} from '\./([^']+)';\n", RegexOptions.Multiline)]
    private static partial Regex Import();

    [GeneratedRegex(@"^export (?=(?:async )?(?:const|class|function) )", RegexOptions.Multiline)]
    private static partial Regex Export();

    [GeneratedRegex(@"#[a-zA-Z]\w*")]
    private static partial Regex PrivateName();

    private static Script Make(string name)
    {
        var plain = Encoding.UTF8.GetBytes(ShortenNames(Shorten(Join(name))));
        var compressed = new MemoryStream();
        using (var gzip = new GZipStream(compressed, CompressionLevel.SmallestSize))
        {
            gzip.Write(plain);
        }

        return new Script(plain, compressed.ToArray());
    }

    private sealed record Script(ReadOnlyMemory<byte> Plain, ReadOnlyMemory<byte> Compressed);
}
