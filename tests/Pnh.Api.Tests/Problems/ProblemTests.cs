using System.Text;
using Microsoft.AspNetCore.Http;
using Pnh.Api.Problems;
using Pnh.Core.Events;

namespace Pnh.Api.Tests.Problems;

public sealed class ProblemTests
{
    [Fact]
    public async Task ExecuteAsync_Everything_IsRfc9457()
    {
        var context = new DefaultHttpContext();
        var body = new MemoryStream();
        context.Response.Body = body;

        await new Problem(ProblemCatalogue.InvalidBody, "Two members.", [new FieldError("/to/user", "too-long", "At most \"128\".")], TimeSpan.FromSeconds(1.2)).ExecuteAsync(context);

        Assert.Equal((400, "application/problem+json", "2"), (context.Response.StatusCode, context.Response.ContentType, context.Response.Headers.RetryAfter.ToString()));
        Assert.Equal(body.Length, context.Response.ContentLength);
        Assert.Equal(
            """{"type":"urn:pnh:problem:invalid-body","title":"The body has wrong members","status":400,"code":"invalid-body","help":"/docs/errors#invalid-body","detail":"Two members.","errors":[{"pointer":"/to/user","code":"too-long","detail":"At most \u0022128\u0022."}]}""",
            Encoding.UTF8.GetString(body.ToArray()));
    }

    /// <summary>The contract: a code that goes away or changes its status breaks clients.</summary>
    [Fact]
    public void Catalogue_Codes_AreTheDocumentedOnes()
    {
        Assert.Equal(
            [
                "400 malformed-body", "400 invalid-body", "400 too-many-refusals", "400 invalid-id", "400 invalid-query", "400 bad-request", "401 unauthorized",
                "403 forbidden", "404 not-found",
                "404 no-such-item", "404 no-sockets-here", "404 no-web-push", "405 method-not-allowed", "408 request-timeout", "409 id-conflict", "409 too-many-devices", "409 too-many-topics", "413 body-too-large",
                "415 unsupported-media-type", "429 too-many-requests", "500 internal-error", "503 overloaded", "503 memory-full", "503 store-unavailable", "503 shutting-down",
            ],
            ProblemCatalogue.All.Select(static kind => $"{kind.Status} {kind.Code}"));
        Assert.Equal(
            typeof(ProblemCatalogue).GetProperties().Where(static property => property.PropertyType == typeof(ProblemKind)).Select(static property => property.GetValue(null)),
            ProblemCatalogue.All);
    }
}
