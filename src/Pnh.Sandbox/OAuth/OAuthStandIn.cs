using System.Buffers;
using System.Text.Json;
using Microsoft.AspNetCore.Http;
using Microsoft.Extensions.Primitives;
using Pnh.Sandbox.Contract;

namespace Pnh.Sandbox.OAuth;

/// <summary>Google's token endpoint: <c>POST /token</c> with the JWT bearer grant (RFC 7523).</summary>
internal sealed class OAuthStandIn
{
    public const string Path = "/token";
    private const string FormType = "application/x-www-form-urlencoded";
    private const string JwtGrant = "urn:ietf:params:oauth:grant-type:jwt-bearer";

    private readonly AssertionCheck _assertions;
    private readonly AccessTokens _tokens;
    private readonly SandboxOptions _options;

    public OAuthStandIn(AssertionCheck assertions, AccessTokens tokens, SandboxOptions options)
    {
        _assertions = assertions;
        _tokens = tokens;
        _options = options;
    }

    public async Task HandleAsync(HttpContext context)
    {
        OAuthError? error = await CheckAsync(context.Request);
        context.Response.StatusCode = error is null ? StatusCodes.Status200OK : StatusCodes.Status400BadRequest;
        context.Response.ContentType = "application/json; charset=utf-8";
        context.Response.Headers.CacheControl = "no-store";

        ArrayBufferWriter<byte> buffer = new();
        using (Utf8JsonWriter json = new(buffer))
        {
            json.WriteStartObject();
            if (error is null)
            {
                json.WriteString("access_token", _tokens.Grant());
                json.WriteNumber("expires_in", (long)_options.AccessTokenLifetime.TotalSeconds);
                json.WriteString("token_type", "Bearer");
            }
            else
            {
                json.WriteString("error", error.Code);
                json.WriteString("error_description", error.Description);
            }

            json.WriteEndObject();
        }

        await context.Response.BodyWriter.WriteAsync(buffer.WrittenMemory, context.RequestAborted);
    }

    private async Task<OAuthError?> CheckAsync(HttpRequest request)
    {
        if (request.ContentType?.Split(';')[0].Trim() != FormType)
        {
            return new OAuthError("invalid_request", $"Content-Type must be {FormType}.");
        }

        if (await ReadFormAsync(request) is not { } form)
        {
            return new OAuthError("invalid_request", "The form cannot be read.");
        }

        StringValues grant = form["grant_type"];
        StringValues assertion = form["assertion"];
        if (grant.Count != 1)
        {
            return new OAuthError("invalid_request", "Required parameter is missing: grant_type");
        }

        if (grant != JwtGrant)
        {
            return new OAuthError("unsupported_grant_type", $"Invalid grant_type: {grant}");
        }

        return assertion.Count == 1 ? _assertions.Check(assertion.ToString())
            : new OAuthError("invalid_request", "Required parameter is missing: assertion");
    }

    private static async Task<IFormCollection?> ReadFormAsync(HttpRequest request)
    {
        try
        {
            return await request.ReadFormAsync(request.HttpContext.RequestAborted);
        }
        catch (Exception e) when (e is InvalidDataException or BadHttpRequestException)
        {
            return null;
        }
    }
}
