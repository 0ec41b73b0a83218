using System.Text;
using System.Text.Json;
using Microsoft.Extensions.Logging;
using Pnh.Channels.Net.Http;
using Pnh.Channels.Provider.Connections;
using Pnh.Core.Push;

namespace Pnh.Channels.Fcm;

/// <summary>
/// What a fetch brought: a token with its times, or a failure that stands for a short while in a token's place. Times are on the monotonic clock, since
/// zero: a wall clock that is set back must not lengthen a failure by an hour. Immutable.
/// </summary>
internal sealed record FcmAccessToken(FcmAuthorization Authorization, TimeSpan FetchedAt, TimeSpan RenewFrom, TimeSpan GoodUntil);

/// <summary>Google's OAuth token endpoint (<c>token_uri</c>) for one service account. Never throws for an answer, a network fault or a timeout.</summary>
internal sealed partial class FcmTokenEndpoint : IDisposable
{
    /// <summary>Nobody asks an endpoint that failed more often than this; a refusal of the key is not cured by asking either.</summary>
    public static readonly TimeSpan PauseAfterFailure = TimeSpan.FromSeconds(10);

    private static readonly TimeSpan Timeout = TimeSpan.FromSeconds(10);

    private readonly ServiceAccount _account;
    private readonly TimeProvider _time;
    private readonly ProviderDial _dial;
    private readonly ConnectionTransports _transports;
    private readonly ILogger _logger;

    public FcmTokenEndpoint(ServiceAccount account, ProviderServices services)
    {
        _account = account;
        _time = services.Time;
        _dial = new ProviderDial(account.TokenAddress, services.Trust, services.Time);
        _transports = services.Transports;
        _logger = services.Loggers.CreateLogger<FcmTokenEndpoint>();
    }

    public async Task<FcmAccessToken> FetchAsync(CancellationToken cancellationToken)
    {
        using var timeout = new CancellationTokenSource(Timeout, _time);
        using var either = CancellationTokenSource.CreateLinkedTokenSource(timeout.Token, cancellationToken);
        try
        {
            return await ExchangeAsync(either.Token);
        }
        catch (Exception) when (timeout.IsCancellationRequested && !cancellationToken.IsCancellationRequested)
        {
            return Failure(DeliveryStatus.Unavailable, "token-endpoint-timeout", null);
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
        _account.Key.Dispose();
    }

    private async Task<FcmAccessToken> ExchangeAsync(CancellationToken cancellationToken)
    {
        // A connection for each fetch: they are an hour apart.
        var dialled = await _dial.ConnectAsync(cancellationToken);
        if (dialled.Stream is not { } stream)
        {
            return Failure(DeliveryStatus.Unavailable, "token-endpoint-unreachable", null);
        }

        await using var connection = _transports.Next().Open(stream, new ConnectionOptions { Origin = _account.TokenAddress }, Unobserved.Instance);
        using var answer = await connection.SendAsync(Request(), cancellationToken);
        return answer.Fault == SendFault.None ? Read(answer) : Failure(DeliveryStatus.Unavailable, "token-endpoint-unreachable", null);
    }

    private ProviderRequest Request()
    {
        // Form encoding leaves the base64url alphabet and the dots of a JWT as they are.
        var form = "grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Ajwt-bearer&assertion="
            + FcmAssertion.Create(_account, _time.GetUtcNow());
        var headers = default(HeaderList);
        headers.Add(HeaderName.ContentType, "application/x-www-form-urlencoded");
        return new ProviderRequest
        {
            PathPrefix = _account.TokenAddress.PathAndQuery,
            PathEnd = "",
            Headers = headers,
            Body = SplicedBody.Whole(Encoding.ASCII.GetBytes(form)),
        };
    }

    private FcmAccessToken Read(in ProviderAnswer answer)
    {
        string? error = null;
        try
        {
            using var document = JsonDocument.Parse(answer.Body);
            var root = document.RootElement;
            if (answer.Status == 200
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
        return error is { Length: <= 64 } && answer.Status is 400 or 401 or 403
            ? Failure(DeliveryStatus.Misconfigured, ProviderText.Clean(error!), null)
            : Failure(DeliveryStatus.Unavailable, $"token-endpoint-http-{answer.Status}", RetryAfter.Read(answer.RetryAfter, _time));
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

    private static partial class Log
    {
        [LoggerMessage(1, LogLevel.Error, "No access token for project {Project}: the fetch broke.", EventName = "TokenFetchBroke")]
        public static partial void FetchBroke(ILogger logger, Exception exception, string project);
    }
}
