using System.Text;
using Pnh.Api.Access;
using Pnh.Core.Stores;
using Pnh.Core.Users;
using Pnh.TestKit;

namespace Pnh.Api.Tests.Access;

public sealed class ClientTokensTests
{
    private const long Now = 1_800_000_000;
    private const string Valid = """{"aud":"demo","sub":"ada","exp":1800003600}""";
    private readonly FakeTimeProvider _time = new(DateTimeOffset.FromUnixTimeSeconds(Now));
    private readonly ClientTokens _tokens;

    public ClientTokensTests()
    {
        _tokens = new(
            [
                App("demo", TokenFactory.Secret), App("shop", "the-other-secret-of-at-least-32-bytes", "shop-clients"), new AppOptions("mute", [], null),
            ], _time);
    }

    [Fact]
    public void Authenticate_OwnToken_GivesTheIdentity()
    {
        var token = _tokens.Create("demo", "ada", "phone-1", TimeSpan.FromHours(1), ["room-7", "room-8"]);

        var identity = _tokens.Authenticate(token, out var refusal);

        Assert.Null(refusal);
        Assert.Equal(("demo", "ada", "phone-1"), (identity!.App, identity.User, identity.Device));
        Assert.Equal(["room-7", "room-8"], identity.Topics);
        Assert.Equal(Now + 3600 + 60, identity.ExpiresAt.ToUnixTimeSeconds());
    }

    /// <summary>The user was erased half a second into this second: by the claim's whole seconds, one of the second before is of before. Without the claim it counts after a day.</summary>
    [Theory]
    [InlineData(",\"iat\":1799999999", 0, "erased-user")]
    [InlineData(",\"iat\":1799999999", 48, "erased-user")]
    [InlineData(",\"iat\":1800000000", 0, null)]
    [InlineData(",\"iat\":1800000001.5", 0, null)]
    [InlineData("", 0, "erased-user")]
    [InlineData("", 23, "erased-user")]
    [InlineData("", 25, null)]
    [InlineData(",\"iat\":\"yesterday\"", 0, "erased-user")]
    [InlineData(",\"iat\":null", 25, null)]
    public void Authenticate_UserWasErased_TokenCountsWhenItIsNewer(string claim, int hoursLater, string? expected)
    {
        var erased = DateTimeOffset.FromUnixTimeMilliseconds((Now * 1000) + 500);
        var tokens = new ClientTokens([App("demo", TokenFactory.Secret)], _time, new ErasedAt(erased));
        var token = TokenFactory.Hs256($$"""{"aud":"demo","sub":"ada","exp":1900000000{{claim}}}""");
        _time.Advance(TimeSpan.FromHours(hoursLater));

        Assert.Equal(expected is null, tokens.Authenticate(token, out var refusal) is not null);
        Assert.Equal(expected, refusal);
    }

    [Fact]
    public void Authenticate_OddUnicodeInNames_SurvivesTheWay()
    {
        var user = "Zoë/☎ \"x\" 50% 𝒜";

        Assert.Equal(user, _tokens.Authenticate(_tokens.Create("demo", user, null, TimeSpan.FromMinutes(1)), out _)!.User);
    }

    /// <summary>The structure of RFC 7515 appendix A.1, made byte by byte elsewhere: openssl dgst -sha256 -mac HMAC over the same two parts.</summary>
    [Fact]
    public void Authenticate_TokenSignedByOpenssl_IsTaken()
    {
        const string token = "eyJ0eXAiOiJKV1QiLA0KICJhbGciOiJIUzI1NiJ9.eyJhdWQiOiJkZW1vIiwNCiAic3ViIjoiYWRhIiwNCiAiZXhwIjoxODAwMDAzNjAwfQ.9NZkvyA_3QsLiZPKdP_8gwZLaJmVUknvt5nFydKfFYs";

        Assert.Equal("ada", _tokens.Authenticate(token, out _)?.User);
    }

    /// <summary>RFC 7515 appendix A.1: its key is binary, so only the verifier's arithmetic can be checked with it.</summary>
    [Fact]
    public void Authenticate_Rfc7515A1Token_HasNoAudienceAndIsRefused()
    {
        const string token = "eyJ0eXAiOiJKV1QiLA0KICJhbGciOiJIUzI1NiJ9.eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ.dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk";

        Assert.Null(_tokens.Authenticate(token, out var refusal));
        Assert.Equal("unknown-audience", refusal);
    }

    [Theory]
    [InlineData("""{"aud":["x","demo"],"sub":"ada","exp":1800003600}""", "demo", null)]
    [InlineData("""{"aud":["demo","demo"],"sub":"ada","exp":1800003600.5,"iat":5,"iss":"me","custom":{"a":[1]}}""", "demo", null)]
    [InlineData("""{"aud":"demo","sub":"ada","exp":1799999941}""", "demo", null)] // 59 s past: within the skew
    [InlineData("""{"aud":"demo","sub":"ada","exp":1799999940}""", null, "expired")]
    [InlineData("""{"aud":"demo","sub":"ada","exp":1800003600,"nbf":1800000060}""", "demo", null)]
    [InlineData("""{"aud":"demo","sub":"ada","exp":1800003600,"nbf":1800000061}""", null, "not-yet-valid")]
    [InlineData("""{"aud":"demo","sub":"ada"}""", null, "missing-expiry")]
    [InlineData("""{"aud":"demo","sub":"ada","exp":"1800003600"}""", null, "malformed")]
    [InlineData("""{"aud":"demo","sub":"ada","exp":1e300}""", null, "malformed")]
    [InlineData("""{"aud":"demo","sub":"ada","exp":-1}""", null, "malformed")]
    [InlineData("""{"sub":"ada","exp":1800003600}""", null, "unknown-audience")]
    [InlineData("""{"aud":"mute","sub":"ada","exp":1800003600}""", null, "unknown-audience")]
    [InlineData("""{"aud":"shop","sub":"ada","exp":1800003600}""", null, "unknown-audience")]
    [InlineData("""{"aud":"shop-clients","sub":"ada","exp":1800003600}""", null, "bad-signature")]
    [InlineData("""{"aud":["demo","shop-clients"],"sub":"ada","exp":1800003600}""", null, "ambiguous-audience")]
    [InlineData("""{"aud":5,"sub":"ada","exp":1800003600}""", null, "malformed")]
    [InlineData("""{"aud":["demo",null],"sub":"ada","exp":1800003600}""", null, "malformed")]
    [InlineData("""{"aud":"demo","exp":1800003600}""", null, "bad-subject")]
    [InlineData("""{"aud":"demo","sub":"","exp":1800003600}""", null, "bad-subject")]
    [InlineData("""{"aud":"demo","sub":"..","exp":1800003600}""", null, "bad-subject")]
    [InlineData("""{"aud":"demo","sub":"a\u0000","exp":1800003600}""", null, "bad-subject")]
    [InlineData("""{"aud":"demo","sub":"\ud800","exp":1800003600}""", null, "malformed")]
    [InlineData("""{"aud":"demo","\ud800":1,"sub":"ada","exp":1800003600}""", null, "malformed")]
    [InlineData("""{"aud":"demo","sub":null,"exp":1800003600}""", null, "malformed")]
    [InlineData("""{"aud":"demo","sub":"ada","exp":1800003600,"device":""}""", null, "bad-device")]
    [InlineData("""{"aud":"demo","sub":"ada","exp":1800003600,"device":7}""", null, "malformed")]
    [InlineData("""{"aud":"demo","sub":"ada","exp":1800003600,"topics":["a","."]}""", null, "bad-topics")]
    [InlineData("""{"aud":"demo","sub":"ada","exp":1800003600,"topics":"a"}""", null, "malformed")]
    [InlineData("""{"aud":"demo","sub":"eve","sub":"ada","exp":1800003600}""", null, "malformed")]
    [InlineData("""{"aud":"demo","sub":"eve","\u0073ub":"ada","exp":1800003600}""", null, "malformed")]
    [InlineData("""["demo"]""", null, "malformed")]
    [InlineData("null", null, "malformed")]
    [InlineData("", null, "malformed")]
    [InlineData("""{"aud":"demo","sub":"ada","exp":1800003600}x""", null, "malformed")]
    public void Authenticate_Payload_IsJudged(string payload, string? app, string? expected)
    {
        var identity = _tokens.Authenticate(TokenFactory.Hs256(payload), out var refusal);

        Assert.Equal((app, expected), (identity?.App, refusal));
    }

    [Theory]
    [InlineData("""{"alg":"none"}""", "wrong-algorithm")]
    [InlineData("""{"alg":"hs256"}""", "wrong-algorithm")]
    [InlineData("""{"alg":"HS512"}""", "wrong-algorithm")]
    [InlineData("""{"alg":"RS256"}""", "wrong-algorithm")]
    [InlineData("""{"typ":"JWT"}""", "wrong-algorithm")]
    [InlineData("""{"alg":"none","alg":"HS256"}""", "malformed")]
    [InlineData("""{"alg":"HS256","crit":["exp"],"exp":1}""", "critical-extension")]
    [InlineData("""{"alg":"HS256","typ":"JWE"}""", "wrong-type")]
    [InlineData("""{"alg":7}""", "malformed")]
    [InlineData("[]", "malformed")]
    [InlineData("""{"alg":"HS256","jku":"https://evil.example/keys","x5u":"https://evil.example","jwk":{"kty":"oct","k":"AAAA"},"kid":"../../dev/null"}""", null)]
    [InlineData("""{"alg":"HS256","typ":"at+jwt"}""", null)]
    public void Authenticate_Header_IsJudged(string header, string? expected)
    {
        var identity = _tokens.Authenticate(TokenFactory.Hs256(Valid, header), out var refusal);

        Assert.Equal((expected is null, expected), (identity is not null, refusal));
    }

    [Fact]
    public void Authenticate_UnsignedOrCutOrPadded_IsRefused()
    {
        var token = TokenFactory.Hs256(Valid);
        var parts = token.Split('.');
        string[] broken =
        [
            "", ".", "..", "...", "a.b", $"{parts[0]}.{parts[1]}", $"{parts[0]}.{parts[1]}.", $".{parts[1]}.{parts[2]}", $"{token}.a.b", $"{token}=",
            $" {token}", $"{token}\n", token.Replace('.', '·'), $"{parts[0]}.{parts[1]}.{parts[2]}A", $"{parts[0]}..{parts[2]}", new string('a', 20_000),
        ];

        Assert.All(broken, text => Assert.Null(_tokens.Authenticate(text, out _)));
        Assert.Null(_tokens.Authenticate(new string('a', ClientTokens.TokenBytes + 1), out var refusal));
        Assert.Equal("too-large", refusal);
    }

    /// <summary>Any single changed character must be noticed; the last one holds two bits that mean nothing, and must be zero.</summary>
    [Fact]
    public void Authenticate_AnyCharacterChanged_IsRefused()
    {
        var token = TokenFactory.Hs256(Valid);
        for (var i = 0; i < token.Length; i++)
        {
            foreach (var replacement in "Ab-9")
            {
                if (token[i] != replacement && token[i] != '.')
                {
                    var changed = new StringBuilder(token) { [i] = replacement }.ToString();
                    Assert.True(_tokens.Authenticate(changed, out _) is null, $"character {i}");
                }
            }
        }

        Assert.NotNull(_tokens.Authenticate(token, out _));
    }

    [Fact]
    public void Create_AppWithoutSecret_SaysSo()
    {
        Assert.Throws<InvalidOperationException>(() => _tokens.Create("mute", "ada", null, TimeSpan.FromHours(1)));
        Assert.Throws<InvalidOperationException>(() => _tokens.Create("nobody", "ada", null, TimeSpan.FromHours(1)));
        Assert.Throws<ArgumentOutOfRangeException>(() => _tokens.Create("demo", "ada", null, TimeSpan.Zero));
    }

    private static AppOptions App(string name, string secret, string? audience = null) => new(name, [], new() { Hs256Secrets = [secret], Audience = audience });

    /// <summary>Everybody was erased then.</summary>
    private sealed class ErasedAt(DateTimeOffset barrier) : IErasureStore
    {
        public Task<StartedErasure> BeginAsync(UserKey user, CancellationToken cancellationToken) => throw new NotSupportedException();

        public Task<ErasureReceipt> EndAsync(StartedErasure started, ErasedParts found, CancellationToken cancellationToken) => throw new NotSupportedException();

        public ValueTask<ErasureReceipt?> FindAsync(string app, string id, CancellationToken cancellationToken) => throw new NotSupportedException();

        public DateTimeOffset? FindBarrier(UserKey user) => barrier;
    }
}
