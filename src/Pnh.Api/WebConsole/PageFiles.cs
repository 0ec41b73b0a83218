using System.Security.Cryptography;
using System.Text;
using Microsoft.Extensions.Primitives;
using Pnh.Api.Documents;

namespace Pnh.Api.WebConsole;

/// <summary>The page's files, embedded in the program and served from memory. Read once; a missing one fails the start.</summary>
internal sealed class PageFiles
{
    /// <summary>Nothing from elsewhere, nothing inline.</summary>
    private const string ContentSecurityPolicy =
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; form-action 'self'; base-uri 'none'; frame-ancestors 'none'; connect-src 'self'";

    private readonly Dictionary<string, PageFile> _files = new(StringComparer.Ordinal);

    private readonly IConsoleSource _source;

    public PageFiles(IConsoleSource source)
    {
        _source = source;
        foreach (var name in new[] { Index, Opened }.Concat(Assets))
        {
            _files.Add(name, Make(name, Read(name)));
        }

        // The notices are ours, so nothing is escaped; each makes a page of its own, with its own tag.
        var form = Encoding.UTF8.GetString(Read(SignInFile));
        foreach (var (name, notice) in Notices)
        {
            _files.Add(name, Make(SignInFile, Encoding.UTF8.GetBytes(form.Replace("{notice}", notice, StringComparison.Ordinal))));
        }
    }

    /// <summary>The page.</summary>
    public const string Index = "index.html";

    /// <summary>What a one-time link answers: it goes on to the page by itself.</summary>
    public const string Opened = "opened.html";

    /// <summary>The form for a key, for a browser that is not signed in.</summary>
    public const string SignIn = "sign in";

    /// <summary>The form, after a link that does not open.</summary>
    public const string SignInUsedLink = "sign in: link";

    /// <summary>The form, after a wrong key.</summary>
    public const string SignInWrongKey = "sign in: key";

    private static readonly IReadOnlyList<string> Client = ClientScripts.ModulesOf("pnh.js");

    private const string SignInFile = "signin.html";

    private static readonly (string Name, string Notice)[] Notices =
    [
        (SignIn, ""),
        (SignInUsedLink, "This link was used already or is older than 15 minutes; <code>pnh console</code> prints another. If this browser used it, <a href=\"/console\">open the console</a>."),
        (SignInWrongKey, "This is no admin key of this hub."),
    ];

    /// <summary>What the page loads.</summary>
    public static IReadOnlyList<string> Assets { get; } =
        ["console.css", "hour.css", "phones.css", "console.js", "stats.js", "phones.js", "publish.js", "find.js", "newest.js", "hour.js", "trouble.js", "timeline.js", "tab.js", "dom.js", .. Client];

    /// <summary>Sends a file, or 304 when the browser has it.</summary>
    public Task SendAsync(HttpContext context, string name, int status = StatusCodes.Status200OK)
    {
        var file = _files[name];
        var response = context.Response;
        response.Headers.ETag = file.ETag;
        response.Headers.CacheControl = name == Opened ? "no-store" : "no-cache";
        response.Headers.ContentSecurityPolicy = ContentSecurityPolicy + SocketOf(context.Request);
        response.Headers["Referrer-Policy"] = "same-origin";
        response.Headers.XContentTypeOptions = "nosniff";
        if (status == StatusCodes.Status200OK && HasIt(context.Request.Headers.IfNoneMatch, file.ETag))
        {
            response.StatusCode = StatusCodes.Status304NotModified;
            return Task.CompletedTask;
        }

        response.StatusCode = status;
        response.ContentType = file.ContentType;
        response.ContentLength = file.Bytes.Length;
        return response.Body.WriteAsync(file.Bytes, context.RequestAborted).AsTask();
    }

    /// <summary>The public listener's socket is another port, under the name that the browser used for this page (as in <c>tab.js</c>). A policy has no form for an IPv6 address.</summary>
    private string SocketOf(HttpRequest request)
    {
        if (_source.Socket is not { } socket)
        {
            return string.Empty;
        }

        var host = socket.IsLoopback ? request.Host.Host : socket.Host;
        return host.StartsWith('[') ? $" {socket.Scheme}:" : $" {socket.Scheme}://{host}:{socket.Port}";
    }

    private static bool HasIt(StringValues tags, string tag) => tags.Any(value => value!.Split(',').Any(one => one.Trim() == tag));

    private static byte[] Read(string name) => EmbeddedFile.Read(Client.Contains(name) ? name : $"console/{name}");

    private static PageFile Make(string name, byte[] bytes)
    {
        var tag = $"\"{Convert.ToHexStringLower(SHA256.HashData(bytes).AsSpan(0, 8))}\"";
        return new PageFile(bytes, tag, Path.GetExtension(name) switch
        {
            ".html" => "text/html; charset=utf-8",
            ".css" => "text/css; charset=utf-8",
            _ => "text/javascript; charset=utf-8",
        });
    }

    private sealed record PageFile(ReadOnlyMemory<byte> Bytes, string ETag, string ContentType);
}
