using System.Net;
using System.Text.Json;
using Microsoft.Extensions.Http.Resilience;
using Microsoft.Extensions.Logging;
using Pnh.Channels.Net.Http;
using Pnh.Channels.Provider.Connections;
using Pnh.Channels.Provider.Sender;
using Pnh.Core.Push;
using Pnh.Core.Timing;
using Polly;
using Polly.Timeout;

namespace Pnh.Channels.Fcm;

/// <summary>
/// What a fetch brought: a token with its times, or a failure that stands for a short while in a token's place. Times are on the monotonic clock, since
/// zero: a wall clock that is set back must not lengthen a failure by an hour. Immutable.
/// </summary>
internal sealed record FcmAccessToken(FcmAuthorization Authorization, TimeSpan FetchedAt, TimeSpan RenewFrom, TimeSpan GoodUntil)
{
    /// <summary>Whose token it is; null = nobody's yet.</summary>
    public FcmTokenEndpoint? Source { get; init; }
}

/// <summary>Google's OAuth token endpoint (<c>token_uri</c>) for one service account. Never throws for an answer, a network fault or a timeout.</summary>
internal sealed partial class FcmTokenEndpoint : IDisposable
{
    /// <summary>Nobody asks an endpoint that failed more often than this; a refusal of the key is not cured by asking either.</summary>
    public static readonly TimeSpan PauseAfterFailure = TimeSpan.FromSeconds(10);

    private static readonly TimeSpan Limit = TimeSpan.FromSeconds(10);

    private readonly ServiceAccount _account;
    private readonly TimeProvider _time;
    private readonly HttpMessageInvoker _client;
    private readonly ILogger _logger;

    public FcmTokenEndpoint(ServiceAccount account, ProviderServices services)
    {
        _account = account;
        _time = SteadyClock.WallOf(services.Time);
        _client = new HttpMessageInvoker(new ResilienceHandler(Pipeline(services.Time))
        {
            InnerHandler = new WholeAnswers { InnerHandler = Connections(account.TokenAddress, services.Trust) },
        });
        _logger = services.Loggers.CreateLogger<FcmTokenEndpoint>();
    }

    /// <summary>The project of its account.</summary>
    public string Project => _account.ProjectId;

    public async Task<FcmAccessToken> FetchAsync(CancellationToken cancellationToken)
    {
        try
        {
            using var request = new HttpRequestMessage(HttpMethod.Post, _account.TokenAddress)
            {
                Version = HttpVersion.Version20,
                VersionPolicy = HttpVersionPolicy.RequestVersionOrLower,
                Content = new FormUrlEncodedContent(
                [
                    new("grant_type", "urn:ietf:params:oauth:grant-type:jwt-bearer"), new("assertion", FcmAssertion.Create(_account, _time.GetUtcNow())),
                ]),
            };
            using var answer = await _client.SendAsync(request, cancellationToken);
            return Read(answer, await answer.Content.ReadAsByteArrayAsync(cancellationToken));
        }
        catch (TimeoutRejectedException)
        {
            return Failure(DeliveryStatus.Unavailable, "token-endpoint-timeout", null);
        }
        catch (HttpRequestException)
        {
            return Failure(DeliveryStatus.Unavailable, "token-endpoint-unreachable", null);
        }
        catch (Exception exception) when (!cancellationToken.IsCancellationRequested)
        {
            // All who wait for the token would fail for good with it, and none of them has done anything wrong.
            Log.FetchBroke(_logger, exception, _account.ProjectId);
            return Failure(DeliveryStatus.Unavailable, "token-endpoint-failed", null);
        }
    }

    public void Dispose()
    {
        _client.Dispose();
        _account.Key.Dispose();
    }

    // A fetch may be repeated: a second token harms nobody. A slow endpoint has all of the time, and one that names a time is asked again then.
    private static ResiliencePipeline<HttpResponseMessage> Pipeline(TimeProvider time) =>
        EventTelemetry.NewPipeline<HttpResponseMessage>("fcm-token", time)
            .AddTimeout(new HttpTimeoutStrategyOptions { Name = "total-timeout", Timeout = Limit })
            .AddRetry(new HttpRetryStrategyOptions
            {
                Name = "retry",
                MaxRetryAttempts = 2,
                Delay = TimeSpan.FromMilliseconds(500),
                ShouldHandle = static arguments => ValueTask.FromResult(
                    HttpClientResiliencePredicates.IsTransient(arguments.Outcome) && arguments.Outcome.Result?.Headers.RetryAfter is null),
            })
            .Build();

    // A connection for each fetch and its repetitions: fetches are an hour apart.
    private static SocketsHttpHandler Connections(Uri address, ProviderTrust trust) => new()
    {
        ActivityHeadersPropagator = null,
        AllowAutoRedirect = false,
        ConnectTimeout = ProviderDial.Timeout,
        PooledConnectionIdleTimeout = Limit,
        SslOptions = trust.OptionsFor(address),
        UseCookies = false,
        UseProxy = false,
    };

    private FcmAccessToken Read(HttpResponseMessage answer, byte[] body)
    {
        string? error = null;
        try
        {
            using var document = JsonDocument.Parse(body);
            var root = document.RootElement;
            if (answer.StatusCode == HttpStatusCode.OK
                && root.TryGetProperty("access_token", out var token) && token.GetString() is { Length: > 0 } text && !text.AsSpan().ContainsAnyExceptInRange('!', '~')
                && root.TryGetProperty("expires_in", out var seconds) && seconds.TryGetInt32(out var life) && life > 0)
            {
                return Success(text, TimeSpan.FromSeconds(life));
            }

            error = root.TryGetProperty("error", out var code) && code.ValueKind == JsonValueKind.String ? code.GetString() : null;
        }
        catch (Exception exception) when (exception is JsonException or InvalidOperationException)
        {
            // Not what an OAuth endpoint says (a proxy's page, a cut answer): judged by the status below.
        }

        // RFC 6749 section 5.2: an error code in a 4xx means that the key or account is refused.
        return error is { Length: <= 64 } && answer.StatusCode is HttpStatusCode.BadRequest or HttpStatusCode.Unauthorized or HttpStatusCode.Forbidden
            ? Failure(DeliveryStatus.Misconfigured, ProviderText.Clean(error!), null)
            : Failure(DeliveryStatus.Unavailable, $"token-endpoint-http-{(int)answer.StatusCode}", RetryAfter.Read(answer.Headers.RetryAfter?.ToString(), _time));
    }

    private FcmAccessToken Success(string token, TimeSpan life)
    {
        var now = _time.GetElapsedTime(0);
        var goodUntil = now + life - (life > FcmCredential.SafetyMargin * 2 ? FcmCredential.SafetyMargin : TimeSpan.Zero);
        var renewFrom = life > FcmCredential.RenewalMargin * 2 ? now + life - FcmCredential.RenewalMargin : now + (life / 2);
        return new FcmAccessToken(new FcmAuthorization($"Bearer {token}", default), now, renewFrom, goodUntil);
    }

    private FcmAccessToken Failure(DeliveryStatus status, string reason, TimeSpan? retryAfter)
    {
        var pause = retryAfter > PauseAfterFailure ? retryAfter.Value : PauseAfterFailure;
        var result = new DeliveryResult
        {
            Status = status,
            Reason = reason,
            RetryAfter = status == DeliveryStatus.Unavailable ? pause : null,
            IsUnasked = true, // FCM itself: a send needs the token first
        };
        var now = _time.GetElapsedTime(0);
        return new FcmAccessToken(new FcmAuthorization(null, result), now, now + pause, now + pause);
    }

    /// <summary>An attempt ends with the whole answer, so that the limit holds for the body too.</summary>
    private sealed class WholeAnswers : DelegatingHandler
    {
        private const int MaxBytes = 64 * 1024;

        protected override async Task<HttpResponseMessage> SendAsync(HttpRequestMessage request, CancellationToken cancellationToken)
        {
            var answer = await base.SendAsync(request, cancellationToken);
            try
            {
                await answer.Content.LoadIntoBufferAsync(MaxBytes, cancellationToken);
                return answer;
            }
            catch
            {
                answer.Dispose();
                throw;
            }
        }
    }

    private static partial class Log
    {
        [LoggerMessage(1, LogLevel.Error, "No access token for project {Project}: the fetch broke.", EventName = "TokenFetchBroke")]
        public static partial void FetchBroke(ILogger logger, Exception exception, string project);
    }
}
