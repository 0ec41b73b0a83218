using System.Buffers.Text;
using System.Security.Cryptography;
using System.Text;
using System.Text.Json;
using Microsoft.IdentityModel.JsonWebTokens;
using Microsoft.IdentityModel.Tokens;
using Pnh.Channels.Apns;
using Pnh.TestKit;

namespace Pnh.Channels.Tests.Apns;

public sealed class ApnsCredentialTests : IDisposable
{
    private readonly FakeTimeProvider _time = new();
    private readonly ECDsa _key = ECDsa.Create(ECCurve.NamedCurves.nistP256);
    private readonly ApnsCredential _credential;

    public ApnsCredentialTests() => _credential = new ApnsCredential("TEAM123456", "KEY1234567", _key, _time);

    public void Dispose() => _key.Dispose();

    [Fact]
    public async Task Authorization_Token_IsTakenByALibraryWithThePublicKey()
    {
        var header = _credential.Authorization;
        Assert.StartsWith("bearer ", header, StringComparison.Ordinal);
        using var publicKey = ECDsa.Create();
        publicKey.ImportSubjectPublicKeyInfo(_key.ExportSubjectPublicKeyInfo(), out _);

        var read = await new JsonWebTokenHandler().ValidateTokenAsync(header["bearer ".Length..], new()
        {
            IssuerSigningKey = new ECDsaSecurityKey(publicKey),
            ValidAlgorithms = [SecurityAlgorithms.EcdsaSha256],
            ValidIssuer = "TEAM123456",
            ValidateAudience = false,
            ValidateLifetime = false,
        });

        Assert.True(read.IsValid, read.Exception?.Message);
        var token = (JsonWebToken)read.SecurityToken;
        Assert.Equal("""{"alg":"ES256","kid":"KEY1234567"}""", Encoding.UTF8.GetString(Base64Url.DecodeFromChars(token.EncodedHeader)));
        Assert.Equal($$"""{"iss":"TEAM123456","iat":{{_time.GetUtcNow().ToUnixTimeSeconds()}}}""", Encoding.UTF8.GetString(Base64Url.DecodeFromChars(token.EncodedPayload)));
    }

    [Fact]
    public void Authorization_ClockSetBack_TokenOfTheFutureIsReplacedAtOnce()
    {
        var clock = new SteppedClock(_time) { Ahead = TimeSpan.FromHours(1) };
        var credential = new ApnsCredential("TEAM123456", "KEY1234567", _key, clock);
        var wrong = credential.Authorization;
        clock.Ahead = TimeSpan.Zero;

        Assert.Equal(TimeSpan.Zero, credential.Left);
        Assert.NotEqual(wrong, credential.Authorization);
        Assert.Equal(_time.GetUtcNow().ToUnixTimeSeconds(), IssuedAt(credential.Authorization));
    }

    [Fact]
    public void Authorization_OverADay_NeverOlderThan55MinutesNorRenewedWithin50()
    {
        var issued = new List<long>();
        for (var minute = 0; minute < 24 * 60; minute++)
        {
            var iat = IssuedAt(_credential.Authorization);
            Assert.InRange(_time.GetUtcNow().ToUnixTimeSeconds() - iat, 0, 55 * 60);
            if (issued.Count == 0 || issued[^1] != iat)
            {
                issued.Add(iat);
            }

            _time.Advance(TimeSpan.FromMinutes(1));
        }

        Assert.All(issued.Zip(issued.Skip(1)), pair => Assert.InRange(pair.Second - pair.First, 50 * 60, 56 * 60));
    }

    [Fact]
    public async Task Authorization_ManyAtOnce_OneToken()
    {
        var tokens = await Task.WhenAll(Enumerable.Range(0, 64).Select(_ => Task.Run(() => _credential.Authorization)));

        Assert.Single(tokens.Distinct());
    }

    [Fact]
    public void Replace_YoungToken_Null()
    {
        var refused = _credential.Authorization;
        _time.Advance(ApnsCredential.LeastAge - TimeSpan.FromSeconds(1));

        Assert.Null(_credential.Replace(refused));
        Assert.Equal(refused, _credential.Authorization);
    }

    [Fact]
    public void Replace_OldTokenRefusedByMany_OneNewToken()
    {
        var refused = _credential.Authorization;
        _time.Advance(ApnsCredential.LeastAge);

        var renewed = Enumerable.Range(0, 100).Select(_ => _credential.Replace(refused)).Distinct().ToList();

        Assert.NotEqual(refused, Assert.Single(renewed));
        Assert.Equal(renewed[0], _credential.Authorization);
    }

    private static long IssuedAt(string authorization) =>
        JsonDocument.Parse(Base64Url.DecodeFromChars(authorization.Split('.')[1])).RootElement.GetProperty("iat").GetInt64();
}
