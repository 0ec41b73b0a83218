using System.IO.Compression;
using System.IO.Pipelines;
using Microsoft.Extensions.Primitives;

namespace Pnh.Api.Bodies;

/// <summary>A body with <c>Content-Encoding: gzip</c>, inflated while it is read: every limit behind it is one of the inflated bytes. Other codings are the endpoints' to refuse.</summary>
internal static class InflatedBody
{
    /// <summary>The body to read; the request no longer says that it is encoded.</summary>
    public static PipeReader ReaderOf(HttpRequest request)
    {
        if (request.Headers.ContentEncoding is not [{ } coding] || !(coding.Equals("gzip", StringComparison.OrdinalIgnoreCase) || coding.Equals("x-gzip", StringComparison.OrdinalIgnoreCase)))
        {
            return request.BodyReader;
        }

        request.Headers.ContentEncoding = StringValues.Empty;
        var inflating = new GZipStream(request.BodyReader.AsStream(leaveOpen: true), CompressionMode.Decompress);
        request.HttpContext.Response.RegisterForDispose(inflating);
        return PipeReader.Create(inflating, new StreamPipeReaderOptions(leaveOpen: true));
    }
}
