using System.Security.Cryptography;
using Microsoft.IdentityModel.JsonWebTokens;
using Microsoft.IdentityModel.Tokens;
using Pnh.Channels.Fcm;
using Pnh.Channels.Tests.Http;
using Pnh.Core.Push;
using Pnh.TestKit;

namespace Pnh.Channels.Tests.Fcm;

public sealed class FcmCredentialTests : IAsyncDisposable
{
    private readonly FakeTimeProvider _time = new();
    private readonly RSA _key = RSA.Create(2048);
    private FcmCredential? _credential;
    private ProviderStandIn? _server;

    public async ValueTask DisposeAsync()
    {
        _credential?.Dispose();
        _key.Dispose();
        if (_server is not null)
        {
            await _server.DisposeAsync();
        }
    }

    [Fact]
    public async Task Fetch_KeyThatCannotSign_AFailureAndNoException()
    {
        await using var oauth = await ProviderStandIn.StartAsync((_, n) => FcmFixture.Grant(n));
        using var key = RSA.Create(2048);
        using var endpoint = new FcmTokenEndpoint(
            new ServiceAccount("pnh-test", "pnh@example.com", null, new Uri(oauth.Address, "/token"), key), TestServices.For(oauth.Address, TimeProvider.System));
        key.Dispose();

        var fetched = await endpoint.FetchAsync(CancellationToken.None).WaitAsync(Sample.Limit);

        Assert.Null(fetched.Authorization.Header);
        Assert.Equal((DeliveryStatus.Unavailable, "token-endpoint-failed"), (fetched.Authorization.Failure.Status, fetched.Authorization.Failure.Reason));
    }

    [Fact]
    public async Task GetAsync_ClockSetBackAfterAFailure_PauseStaysShort()
    {
        var clock = new SteppedClock(_time) { Ahead = TimeSpan.FromHours(1) };
        var credential = await StartAsync((_, n) => n == 0 ? new Reply(400, """{"error":"invalid_grant"}""") : FcmFixture.Grant(n), clock);
        Assert.Null((await GetAsync(credential)).Header);
        clock.Ahead = TimeSpan.Zero;
        _time.Advance(FcmTokenEndpoint.PauseAfterFailure);

        Assert.Equal("Bearer access-1", (await GetAsync(credential)).Header);
    }

    [Fact]
    public async Task GetAsync_Assertion_VerifiesWithThePublicKey()
    {
        var credential = await StartAsync((_, n) => FcmFixture.Grant(n));
        await GetAsync(credential);

        var request = Assert.Single(_server!.Requests);
        Assert.Equal("application/x-www-form-urlencoded", request.Headers["content-type"]);
        const string Prefix = "grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Ajwt-bearer&assertion=";
        Assert.StartsWith(Prefix, request.Text, StringComparison.Ordinal);
        using var publicKey = RSA.Create();
        publicKey.ImportSubjectPublicKeyInfo(_key.ExportSubjectPublicKeyInfo(), out _);
        var read = await new JsonWebTokenHandler().ValidateTokenAsync(request.Text[Prefix.Length..], new()
        {
            IssuerSigningKey = new RsaSecurityKey(publicKey),
            ValidAlgorithms = [SecurityAlgorithms.RsaSha256],
            ValidIssuer = "pnh@pnh-test.iam.gserviceaccount.com",
            ValidAudience = _server.Address + "token",
            ValidateLifetime = false,
        });

        Assert.True(read.IsValid, read.Exception?.Message);
        var token = (JsonWebToken)read.SecurityToken;
        Assert.Equal(("JWT", "key-1"), (token.Typ, token.Kid));
        Assert.Equal("https://www.googleapis.com/auth/firebase.messaging", token.GetClaim("scope").Value);
        var now = _time.GetUtcNow().ToUnixTimeSeconds();
        Assert.Equal((now, now + 3600), (token.GetPayloadValue<long>("iat"), token.GetPayloadValue<long>("exp")));
    }

    [Fact]
    public async Task GetAsync_ManyAtOnce_OneFetch()
    {
        var gate = new TaskCompletionSource();
        var credential = await StartAsync((_, n) => FcmFixture.Grant(n) with { Gate = gate.Task });
        var callers = Enumerable.Range(0, 64).Select(_ => GetAsync(credential)).ToList();
        gate.SetResult();

        Assert.All(await Task.WhenAll(callers), authorization => Assert.Equal("Bearer access-0", authorization.Header));
        Assert.Single(_server!.Requests);
    }

    [Fact]
    public async Task GetAsync_CallerGivesUp_OthersStillGetTheToken()
    {
        var gate = new TaskCompletionSource();
        var credential = await StartAsync((_, n) => FcmFixture.Grant(n) with { Gate = gate.Task });
        using var stop = new CancellationTokenSource();
        var impatient = credential.GetAsync(stop.Token).AsTask();
        var patient = GetAsync(credential);

        await stop.CancelAsync();
        await Assert.ThrowsAnyAsync<OperationCanceledException>(() => impatient);
        gate.SetResult();

        Assert.Equal("Bearer access-0", (await patient).Header);
    }

    [Fact]
    public async Task GetAsync_ShortlyBeforeTheEnd_RenewedWithoutWaiting()
    {
        var second = new TaskCompletionSource();
        var credential = await StartAsync((_, n) => n == 0 ? FcmFixture.Grant(n) : FcmFixture.Grant(n) with { Gate = second.Task });
        await GetAsync(credential);
        _time.Advance(TimeSpan.FromMinutes(56));

        var meanwhile = credential.GetAsync(CancellationToken.None);
        Assert.True(meanwhile.IsCompletedSuccessfully);
        Assert.Equal("Bearer access-0", (await meanwhile).Header);

        second.SetResult();
        await UntilHeaderAsync(credential, "Bearer access-1");
        Assert.Equal(2, _server!.Requests.Count);
    }

    [Fact]
    public async Task GetAsync_Ended_WaitsForTheNewOne()
    {
        var credential = await StartAsync((_, n) => FcmFixture.Grant(n));
        await GetAsync(credential);
        _time.Advance(TimeSpan.FromHours(1));

        Assert.Equal("Bearer access-1", (await GetAsync(credential)).Header);
    }

    [Theory]
    [InlineData(200, "not json", DeliveryStatus.Unavailable, "token-endpoint-http-200")]
    [InlineData(200, """{"access_token":"a\r\nb","expires_in":3600}""", DeliveryStatus.Unavailable, "token-endpoint-http-200")]
    [InlineData(200, """{"access_token":7,"expires_in":3600}""", DeliveryStatus.Unavailable, "token-endpoint-http-200")]
    [InlineData(400, """{"error":"invalid_grant","error_description":"x"}""", DeliveryStatus.Misconfigured, "invalid_grant")]
    public async Task GetAsync_Failure_ResultOnceAndNoNewTryForTenSeconds(int status, string body, DeliveryStatus expected, string reason)
    {
        var credential = await StartAsync((_, n) => n == 0 ? new Reply(status, body) : FcmFixture.Grant(n));

        var failed = await GetAsync(credential);
        var again = await GetAsync(credential);

        Assert.Null(failed.Header);
        Assert.Equal((expected, reason), (failed.Failure.Status, failed.Failure.Reason));
        Assert.Equal(failed, again);
        Assert.Single(_server!.Requests);

        _time.Advance(FcmTokenEndpoint.PauseAfterFailure);
        Assert.Equal("Bearer access-1", (await GetAsync(credential)).Header);
    }

    [Theory]
    [InlineData(1, "Bearer access-1")]
    [InlineData(3, null)]
    public async Task GetAsync_EndpointInTrouble_TriedThreeTimes(int failures, string? header)
    {
        var credential = await StartAsync((_, n) => n < failures ? new Reply(500, "<html>") : FcmFixture.Grant(n), TimeProvider.System);

        var fetched = await GetAsync(credential);

        Assert.Equal(header, fetched.Header);
        Assert.Equal(header is null ? "token-endpoint-http-500" : null, fetched.Failure.Reason);
        Assert.Equal(header is null ? failures : failures + 1, _server!.Requests.Count);
    }

    [Fact]
    public async Task GetAsync_EndpointNamesATime_AskedAgainThenAndNotBefore()
    {
        var credential = await StartAsync(static (_, n) => n == 0 ? new Reply(503) { RetryAfter = "60" } : FcmFixture.Grant(n));

        Assert.Equal(TimeSpan.FromSeconds(60), (await GetAsync(credential)).Failure.RetryAfter);
        _time.Advance(TimeSpan.FromSeconds(59));
        Assert.Null((await GetAsync(credential)).Header);
        Assert.Single(_server!.Requests);
        _time.Advance(TimeSpan.FromSeconds(1));
        Assert.Equal("Bearer access-1", (await GetAsync(credential)).Header);
    }

    [Fact]
    public async Task GetAsync_RenewalFails_OldTokenServesOn()
    {
        var credential = await StartAsync((_, n) => n == 0 ? FcmFixture.Grant(n) : new Reply(503));
        await GetAsync(credential);
        _time.Advance(TimeSpan.FromMinutes(56));

        // Three tries, the pause after their failure, and the first try of the next fetch.
        for (var seconds = 0; seconds < 150 && _server!.Requests.Count < 5; seconds++)
        {
            Assert.Equal("Bearer access-0", (await GetAsync(credential)).Header);
            await Task.Delay(20);
            _time.Advance(TimeSpan.FromSeconds(1));
        }

        Assert.Equal(5, _server!.Requests.Count);
        Assert.Equal("Bearer access-0", (await GetAsync(credential)).Header);
    }

    [Fact]
    public async Task GetAsync_EndpointDown_Unavailable()
    {
        using var nobody = new ClosedPort();
        var credential = Start(nobody.Address, TimeProvider.System);

        var failed = await GetAsync(credential);

        Assert.Equal((DeliveryStatus.Unavailable, "token-endpoint-unreachable"), (failed.Failure.Status, failed.Failure.Reason));
        Assert.Equal(FcmTokenEndpoint.PauseAfterFailure, failed.Failure.RetryAfter);
    }

    [Fact]
    public async Task Take_NewKeyIsRefused_TheOneBeforeIsUsedWhileItIsAccepted()
    {
        var credential = await StartAsync((_, n) => n is 1 or 3 ? new Reply(400, """{"error":"invalid_grant"}""") : FcmFixture.Grant(n));
        Assert.Equal("Bearer access-0", (await GetAsync(credential)).Header);
        using var key = RSA.Create(2048);
        credential.Take(ServiceAccount.Read(FcmFixture.AccountFile(key, new Uri(_server!.Address, "/token").AbsoluteUri), out _)!);

        // The new one is asked and refused, then the one before.
        await UntilHeaderAsync(credential, "Bearer access-2");

        // Later that one is refused, and the new one is good.
        _time.Advance(TimeSpan.FromHours(1));
        Assert.Equal("Bearer access-4", (await GetAsync(credential)).Header);
        Assert.Equal([_key, key, _key, _key, key], _server.Requests.Select(request => IsSignedBy(request, key) ? key : _key));
    }

    [Fact]
    public async Task TryFallBack_SendsOfTheNewKeyAreRefused_TokenOfTheOneBefore()
    {
        var credential = await StartAsync((_, n) => FcmFixture.Grant(n));
        Assert.Equal("Bearer access-0", (await GetAsync(credential)).Header);
        using var key = RSA.Create(2048);
        credential.Take(ServiceAccount.Read(FcmFixture.AccountFile(key, new Uri(_server!.Address, "/token").AbsoluteUri), out _)!);
        await UntilHeaderAsync(credential, "Bearer access-1");

        Assert.True(credential.TryFallBack("Bearer access-1"));
        Assert.Equal("Bearer access-2", (await GetAsync(credential)).Header);
        Assert.False(IsSignedBy(_server.Requests[2], key));

        // What was sent with the refused one comes late.
        Assert.True(credential.TryFallBack("Bearer access-1"));
        Assert.Equal("Bearer access-2", (await GetAsync(credential)).Header);
    }

    [Fact]
    public async Task TryFallBack_NewKeyWasTaken_HasNoWayBack()
    {
        var credential = await StartAsync((_, n) => FcmFixture.Grant(n));
        await GetAsync(credential);
        using var key = RSA.Create(2048);
        credential.Take(ServiceAccount.Read(FcmFixture.AccountFile(key, new Uri(_server!.Address, "/token").AbsoluteUri), out _)!);
        await UntilHeaderAsync(credential, "Bearer access-1");

        credential.Accepted((await GetAsync(credential)).Header!);
        Assert.False(credential.TryFallBack("Bearer access-1"));
    }

    private static bool IsSignedBy(Received request, RSA key)
    {
        var token = Uri.UnescapeDataString(request.Text.Split("assertion=")[1].Split('&')[0]);
        var dot = token.LastIndexOf('.');
        return key.VerifyData(
            System.Text.Encoding.ASCII.GetBytes(token[..dot]), System.Buffers.Text.Base64Url.DecodeFromChars(token.AsSpan(dot + 1)), HashAlgorithmName.SHA256, RSASignaturePadding.Pkcs1);
    }

    private async Task<FcmCredential> StartAsync(Func<Received, int, Reply> script, TimeProvider? time = null)
    {
        _server = await ProviderStandIn.StartAsync(script);
        return Start(_server.Address, time ?? _time);
    }

    private FcmCredential Start(Uri endpoint, TimeProvider time)
    {
        var account = ServiceAccount.Read(FcmFixture.AccountFile(_key, new Uri(endpoint, "/token").AbsoluteUri), out var problem);
        Assert.Null(problem);
        return _credential = new FcmCredential(account!, TestServices.For(endpoint, time));
    }

    private static Task<FcmAuthorization> GetAsync(FcmCredential credential) =>
        credential.GetAsync(CancellationToken.None).AsTask().WaitAsync(Sample.Limit);

    private static async Task UntilHeaderAsync(FcmCredential credential, string header)
    {
        var start = TimeProvider.System.GetTimestamp();
        while ((await GetAsync(credential)).Header != header)
        {
            Assert.True(TimeProvider.System.GetElapsedTime(start) < TimeSpan.FromSeconds(5), $"{header} did not come in 5 s");
            await Task.Delay(10);
        }
    }
}
