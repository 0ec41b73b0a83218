using System.Net.Http.Headers;
using System.Text.Json;
using System.Text.Json.Serialization.Metadata;
using Pnh.Api.Access;
using Pnh.Api.Bodies;

namespace Pnh.Api.Operations;

/// <summary>
/// How a command asks the hub that runs on a data folder: with the operator's secret, at its operations listener. Failures (no hub, no secret,
/// no good certificate, refused) are answers, not exceptions, each a sentence for a terminal; only a cancelled token throws.
/// </summary>
internal sealed class OperationsClient
{
    private static readonly TimeSpan Timeout = TimeSpan.FromSeconds(10);
    private readonly Uri _operations;
    private readonly string _dataFolder;

    /// <param name="operations">The operations listener as a client on this machine reaches it.</param>
    /// <param name="dataFolder">The hub's data folder.</param>
    public OperationsClient(Uri operations, string dataFolder)
    {
        _operations = operations;
        _dataFolder = dataFolder;
    }

    /// <summary>The answer read, or why there is none: exactly one of the two is null.</summary>
    /// <param name="method">Of the request.</param>
    /// <param name="path">Of the request, with its query.</param>
    /// <param name="body">JSON; null = no body.</param>
    /// <param name="type">How to read a good answer.</param>
    /// <param name="cancellationToken">Throws when cancelled.</param>
    public async Task<(T? Answer, string? Failure)> AskAsync<T>(
        HttpMethod method, string path, byte[]? body, JsonTypeInfo<T> type, CancellationToken cancellationToken)
        where T : class
    {
        if (ReadSecret(out var failure) is not { } secret)
        {
            return (null, failure);
        }

        using var timeout = CancellationTokenSource.CreateLinkedTokenSource(cancellationToken);
        timeout.CancelAfter(Timeout);
        try
        {
            using var request = new HttpRequestMessage(method, new Uri(_operations, path));
            request.Headers.Authorization = new("Bearer", secret);
            if (body is not null)
            {
                request.Content = new ByteArrayContent(body);
                request.Content.Headers.ContentType = new MediaTypeHeaderValue(RequestBody.Json);
            }

            return await SendAsync(request, type, timeout.Token);
        }
        catch (HttpRequestException exception) when (exception.HttpRequestError == HttpRequestError.SecureConnectionError)
        {
            // A hub may well be there, so the reader must not look for one that is down. The cause says which of the two it is.
            var cause = (exception.InnerException ?? exception).Message.TrimEnd('.');
            return (null, $"{_operations} shows no certificate that is both trusted and good for {_operations.Host} ({cause}); "
                + $"it needs {_operations.Host} among its alternative names (SAN), and SSL_CERT_FILE=… names a file of roots to trust");
        }
        catch (Exception exception) when (exception is HttpRequestException or IOException or JsonException or InvalidOperationException
            || (exception is OperationCanceledException && !cancellationToken.IsCancellationRequested))
        {
            return (null, $"no hub answers at {_operations}; is it running, and is this its Pnh:OperationsUrls?");
        }
    }

    private string? ReadSecret(out string? failure)
    {
        failure = null;
        try
        {
            if (OperatorSecret.Read(_dataFolder) is { } secret)
            {
                return secret;
            }

            failure = $"{_dataFolder} holds no {OperatorSecret.FileName}; start the hub first, or give its folder with --Pnh:Data=…";
        }
        catch (Exception exception) when (exception is IOException or UnauthorizedAccessException)
        {
            failure = $"{Path.Combine(_dataFolder, OperatorSecret.FileName)} may not be read by this user; run this as the hub's user";
        }

        return null;
    }

    private async Task<(T? Answer, string? Failure)> SendAsync<T>(HttpRequestMessage request, JsonTypeInfo<T> type, CancellationToken cancellationToken)
        where T : class
    {
        using var invoker = new HttpMessageInvoker(new SocketsHttpHandler { AllowAutoRedirect = false, UseProxy = false, UseCookies = false });
        using var response = await invoker.SendAsync(request, cancellationToken);
        await using var content = await response.Content.ReadAsStreamAsync(cancellationToken);
        if (response.IsSuccessStatusCode)
        {
            return (await JsonSerializer.DeserializeAsync(content, type, cancellationToken) ?? throw new JsonException("null"), null);
        }

        using var problem = await JsonDocument.ParseAsync(content, default, cancellationToken);
        return (null, $"the hub at {_operations} refused ({(int)response.StatusCode}): {Describe(problem.RootElement)}");
    }

    private static string Describe(JsonElement problem)
    {
        var title = problem.TryGetProperty("detail", out var detail) || problem.TryGetProperty("title", out detail) ? detail.GetString() : null;
        return problem.TryGetProperty("errors", out var errors)
            ? string.Join(" ", errors.EnumerateArray().Select(static error => error.GetProperty("detail").GetString()))
            : title ?? "no reason given";
    }
}
