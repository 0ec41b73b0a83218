using System.Net.Http.Headers;
using System.Text.Json;
using Pnh.Api.Access;
using Pnh.Api.Problems;

namespace Pnh.Api.Commands;

/// <summary>What asking for a key gave: the key, or why not, in a sentence for a terminal.</summary>
internal readonly record struct KeyAnswer(string? Secret, string? Failure)
{
    /// <summary>Without the secret.</summary>
    public override string ToString() => Failure ?? "key";
}

/// <summary>The other side of <see cref="KeysEndpoint"/>, for <c>pnh key add</c>.</summary>
internal static class KeysClient
{
    private static readonly TimeSpan Timeout = TimeSpan.FromSeconds(10);

    /// <summary>
    /// Asks the hub that runs on a data folder. Failures (no hub, no secret, refused) are answers, not exceptions; only a cancelled
    /// <paramref name="cancellationToken"/> throws.
    /// </summary>
    public static async Task<KeyAnswer> AddAsync(Uri operations, string dataFolder, string app, Scope scopes, CancellationToken cancellationToken)
    {
        string? secret;
        try
        {
            secret = OperatorSecret.Read(dataFolder);
        }
        catch (Exception exception) when (exception is IOException or UnauthorizedAccessException)
        {
            return new(null, $"{Path.Combine(dataFolder, OperatorSecret.FileName)} may not be read by this user; run this as the hub's user");
        }

        if (secret is null)
        {
            return new(null, $"{dataFolder} holds no {OperatorSecret.FileName}; start the hub first, or give its folder with --Pnh:Data=…");
        }

        using var timeout = CancellationTokenSource.CreateLinkedTokenSource(cancellationToken);
        timeout.CancelAfter(Timeout);
        try
        {
            return await SendAsync(operations, secret, new(app, scopes.Text().Split(' ')), timeout.Token);
        }
        catch (Exception exception) when (exception is HttpRequestException or IOException or JsonException or InvalidOperationException
            || (exception is OperationCanceledException && !cancellationToken.IsCancellationRequested))
        {
            return new(null, $"no hub answers at {operations}; is it running, and is this its Pnh:OperationsUrls?");
        }
    }

    private static async Task<KeyAnswer> SendAsync(Uri operations, string secret, KeyRequestBody body, CancellationToken cancellationToken)
    {
        using var request = new HttpRequestMessage(HttpMethod.Post, new Uri(operations, KeysEndpoint.Path))
        {
            Content = new ByteArrayContent(JsonSerializer.SerializeToUtf8Bytes(body, KeysJson.Default.KeyRequestBody)),
        };
        request.Headers.Authorization = new("Bearer", secret);
        request.Content.Headers.ContentType = new MediaTypeHeaderValue(RequestBody.Json);
        using var invoker = new HttpMessageInvoker(new SocketsHttpHandler { AllowAutoRedirect = false, UseProxy = false, UseCookies = false });
        using var response = await invoker.SendAsync(request, cancellationToken);
        await using var content = await response.Content.ReadAsStreamAsync(cancellationToken);
        if (response.StatusCode == System.Net.HttpStatusCode.Created)
        {
            var made = await JsonSerializer.DeserializeAsync(content, KeysJson.Default.KeyResponseBody, cancellationToken);
            return new(made!.Key, null);
        }

        using var problem = await JsonDocument.ParseAsync(content, default, cancellationToken);
        return new(null, $"the hub at {operations} refused ({(int)response.StatusCode}): {Describe(problem.RootElement)}");
    }

    private static string Describe(JsonElement problem)
    {
        var title = problem.TryGetProperty("detail", out var detail) || problem.TryGetProperty("title", out detail) ? detail.GetString() : null;
        return problem.TryGetProperty("errors", out var errors)
            ? string.Join(" ", errors.EnumerateArray().Select(static error => error.GetProperty("detail").GetString()))
            : title ?? "no reason given";
    }
}
