using System.Security.Cryptography;
using System.Text;
using Markdig;
using Markdig.Extensions.AutoIdentifiers;
using Markdig.Syntax;
using Markdig.Syntax.Inlines;
using Pnh.Api.Problems;

namespace Pnh.Api.Documents;

/// <summary>The documents of <c>docs/</c> as pages that a browser shows, with an anchor for each heading: what an error's <c>help</c> leads to. Made with the first request. Thread-safe.</summary>
internal static class DocumentPages
{
    /// <summary>The page that lists the others.</summary>
    public const string Index = "index";

    private const string Folder = "docs/";
    private const string Ending = ".md";

    private const string Style =
        ":root{color-scheme:light dark}body{margin:0;font:16px/1.55 system-ui,sans-serif}main{max-width:52rem;margin:0 auto;padding:1.5rem 1rem 6rem}a{color:light-dark(#0b57d0,#8ab4f8)}" +
        "h1,h2,h3{line-height:1.25;scroll-margin-top:1rem}h3{margin:1.6em 0 .3em;font-size:1rem}:target{outline:2px solid light-dark(#0b57d0,#8ab4f8);outline-offset:4px}code{font:.9em ui-monospace,monospace}" +
        "pre{overflow-x:auto;padding:.8rem;background:light-dark(#f3f4f6,#1f2328);border-radius:6px}table{display:block;overflow-x:auto;border-collapse:collapse}" +
        "td,th{padding:.35rem .7rem;border:1px solid light-dark(#d0d7de,#3d444d);text-align:left;vertical-align:top}";

    private static readonly string ContentSecurityPolicy =
        $"default-src 'none'; style-src 'sha256-{Convert.ToBase64String(SHA256.HashData(Encoding.UTF8.GetBytes(Style)))}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

    private static readonly Lazy<Dictionary<string, byte[]>> Pages = new(static () => typeof(DocumentPages).Assembly.GetManifestResourceNames()
        .Where(static name => name.StartsWith(Folder, StringComparison.Ordinal))
        .ToDictionary(static name => name[Folder.Length..^Ending.Length], Read, StringComparer.Ordinal));

    /// <summary>Names of the pages, without ending.</summary>
    public static IReadOnlyCollection<string> Names => Pages.Value.Keys;

    /// <summary>Sends the page of this name; 404 when there is none.</summary>
    public static Task WriteAsync(HttpContext context, string name)
    {
        if (!Pages.Value.TryGetValue(name, out var page))
        {
            return StaticProblem.NotFound.WriteAsync(context);
        }

        var response = context.Response;
        response.ContentType = "text/html; charset=utf-8";
        response.ContentLength = page.Length;
        response.Headers.ContentSecurityPolicy = ContentSecurityPolicy;
        response.Headers.XContentTypeOptions = "nosniff";
        response.Headers.CacheControl = "public, max-age=600";
        return response.Body.WriteAsync(page, context.RequestAborted).AsTask();
    }

    private static byte[] Read(string resource) => Encoding.UTF8.GetBytes(Render(EmbeddedFile.ReadText(resource)));

    private static string Render(string markdown)
    {
        var pipeline = new MarkdownPipelineBuilder().UsePipeTables().UseAutoIdentifiers(AutoIdentifierOptions.GitHub).Build();
        var document = Markdown.Parse(markdown, pipeline);
        foreach (var link in document.Descendants<LinkInline>().ToList())
        {
            Redirect(link);
        }

        var title = markdown.AsSpan(2, markdown.IndexOf('\n') - 2);
        return $"""
            <!doctype html>
            <html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><title>{title} · PNH</title>
            <style>{Style}</style>
            <main><nav><a href="/docs">Documents</a></nav>
            {document.ToHtml(pipeline)}</main></html>
            """;
    }

    // Other pages are beside this one; what else the repository holds is not served, and is left as a text.
    private static void Redirect(LinkInline link)
    {
        var url = link.Url ?? "";
        if (url.StartsWith("../", StringComparison.Ordinal))
        {
            link.MoveChildrenAfter(link);
            link.Remove();
        }
        else if (url.Split('#') is [var page, .. var rest] && page.EndsWith(Ending, StringComparison.Ordinal))
        {
            link.Url = string.Join('#', rest.Prepend($"/docs/{page[..^Ending.Length]}"));
        }
    }
}
