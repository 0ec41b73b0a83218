using System.Net.Http.Headers;
using System.Text.Json;
using System.Text.Json.Serialization.Metadata;
using Pnh.Client.Reports;

namespace Pnh.Client.Http;

/// <summary>Requests to the hub, each repeated while the hub says "not now" or does not answer. Thread-safe.</summary>
internal sealed class HubRequests : IDisposable
{
    private static readonly TimeSpan LongestAnswer = TimeSpan.FromSeconds(30);
    private readonly PnhPublisherOptions _options;
    private readonly HttpMessageInvoker _http;

    public HubRequests(PnhPublisherOptions options)
    {
        _options = options;
        _http = new HttpMessageInvoker(options.Handler ?? new SocketsHttpHandler { PooledConnectionLifetime = TimeSpan.FromMinutes(2) }, disposeHandler: options.Handler is null);
    }

    /// <summary>The answer of a request that succeeded; null for 404 where <paramref name="isMissingNull"/>. Throws <see cref="PnhException"/>.</summary>
    /// <param name="method">Of HTTP.</param>
    /// <param name="path">With its query.</param>
    /// <param name="body">JSON; null = none.</param>
    /// <param name="type">Of the answer.</param>
    /// <param name="isMissingNull">404 is an answer.</param>
    /// <param name="cancellationToken">Ends the attempts.</param>
    public async Task<T?> AskAsync<T>(HttpMethod method, string path, byte[]? body, JsonTypeInfo<T> type, bool isMissingNull, CancellationToken cancellationToken)
        where T : class
    {
        var attempts = new Attempts(_options.RetryFor, _options.Time);
        while (true)
        {
            try
            {
                using var patience = Patience(cancellationToken);
                using var answer = await SendAsync(method, path, body, patience.Token).ConfigureAwait(false);
                if (answer.IsSuccessStatusCode)
                {
                    await using var json = await answer.Content.ReadAsStreamAsync(patience.Token).ConfigureAwait(false);
                    return await JsonSerializer.DeserializeAsync(json, type, patience.Token).ConfigureAwait(false);
                }

                var problem = await ReadProblemAsync(answer, patience.Token).ConfigureAwait(false);
                if (isMissingNull && problem.Code == "no-such-item")
                {
                    return null;
                }

                if (!problem.IsForNow || !attempts.TryNext(answer.Headers.RetryAfter?.Delta))
                {
                    throw problem.ToException();
                }
            }
            catch (Exception fault) when (IsNoAnswer(fault, cancellationToken))
            {
                attempts.NextOrThrow(fault);
            }

            await attempts.WaitAsync(cancellationToken).ConfigureAwait(false);
        }
    }

    /// <summary>One request, whose answer may be read for as long as it lasts. The caller disposes it. Throws <see cref="PnhException"/> for another status than success.</summary>
    public async Task<HttpResponseMessage> OpenAsync(HttpMethod method, string path, HttpContent? body, CancellationToken cancellationToken)
    {
        using var patience = Patience(cancellationToken);
        var answer = await SendAsync(method, path, body, patience.Token).ConfigureAwait(false);
        if (answer.IsSuccessStatusCode)
        {
            return answer;
        }

        using (answer)
        {
            throw (await ReadProblemAsync(answer, patience.Token).ConfigureAwait(false)).ToException();
        }
    }

    /// <summary>True for what says nothing about the request: it may have been taken or not.</summary>
    public static bool IsNoAnswer(Exception fault, CancellationToken cancellationToken) =>
        fault is HttpRequestException or IOException or JsonException || (fault is OperationCanceledException && !cancellationToken.IsCancellationRequested);

    public void Dispose() => _http.Dispose();

    private Task<HttpResponseMessage> SendAsync(HttpMethod method, string path, byte[]? body, CancellationToken cancellationToken)
    {
        var content = body is null ? null : new ByteArrayContent(body) { Headers = { ContentType = new MediaTypeHeaderValue("application/json") } };
        return SendAsync(method, path, content, cancellationToken);
    }

    private async Task<HttpResponseMessage> SendAsync(HttpMethod method, string path, HttpContent? content, CancellationToken cancellationToken)
    {
        using var request = new HttpRequestMessage(method, new Uri(_options.Address, path)) { Content = content };
        request.Headers.Authorization = new AuthenticationHeaderValue("Bearer", _options.Key);
        return await _http.SendAsync(request, cancellationToken).ConfigureAwait(false);
    }

    private static CancellationTokenSource Patience(CancellationToken cancellationToken)
    {
        var patience = CancellationTokenSource.CreateLinkedTokenSource(cancellationToken);
        patience.CancelAfter(LongestAnswer);
        return patience;
    }

    // A proxy in front of the hub may answer something that is no problem of ours.
    private static async Task<HubProblem> ReadProblemAsync(HttpResponseMessage answer, CancellationToken cancellationToken)
    {
        var status = (int)answer.StatusCode;
        try
        {
            await using var json = await answer.Content.ReadAsStreamAsync(cancellationToken).ConfigureAwait(false);
            var problem = await JsonSerializer.DeserializeAsync(json, PnhJson.Default.HubProblem, cancellationToken).ConfigureAwait(false);
            return (problem ?? new HubProblem(status, null, null, null, null)) with { Status = status };
        }
        catch (JsonException)
        {
            return new HubProblem(status, null, null, null, null);
        }
    }

    /// <summary>The attempts of one request: how long they may go on, and the wait before the next.</summary>
    internal sealed class Attempts(TimeSpan retryFor, TimeProvider time)
    {
        private long _since = time.GetTimestamp();
        private readonly BackOff _backOff = new(TimeSpan.FromMilliseconds(100), TimeSpan.FromSeconds(5));
        private TimeSpan _wait;

        /// <summary>False when there is no time for another one.</summary>
        /// <param name="retryAfter">What the hub asks for; null = nothing.</param>
        public bool TryNext(TimeSpan? retryAfter)
        {
            _wait = (retryAfter ?? TimeSpan.Zero) + _backOff.Next();
            return time.GetElapsedTime(_since) + _wait < retryFor;
        }

        public void NextOrThrow(Exception fault)
        {
            if (!TryNext(null))
            {
                throw new PnhException(0, PnhException.Unreachable, $"The hub gave no answer: {fault.Message}", inner: fault);
            }
        }

        public Task WaitAsync(CancellationToken cancellationToken) => Task.Delay(_wait, time, cancellationToken);

        /// <summary>Something came of it: what follows has all its time again.</summary>
        public void Succeeded()
        {
            _backOff.Reset();
            _since = time.GetTimestamp();
        }
    }
}
