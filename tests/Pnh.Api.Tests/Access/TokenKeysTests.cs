using System.Buffers.Text;
using System.Security.Cryptography;
using Pnh.Api.Access;
using Pnh.TestKit;

namespace Pnh.Api.Tests.Access;

public sealed class TokenKeysTests : IDisposable
{
    private const string Payload = """{"aud":"demo","sub":"ada","exp":1800003600}""";
    private static readonly RSA Rsa = RSA.Create(2048);
    private static readonly ECDsa Ecdsa = ECDsa.Create(ECCurve.NamedCurves.nistP256);
    private readonly string _folder = Directory.CreateTempSubdirectory("pnh-test-").FullName;

    public void Dispose() => Directory.Delete(_folder, recursive: true);

    [Fact]
    public void Authenticate_PemKey_TakesOnlyItsOwnAlgorithm()
    {
        var rsa = Tokens(Pem(Rsa.ExportSubjectPublicKeyInfoPem()));
        var ecdsa = Tokens(Pem(Ecdsa.ExportSubjectPublicKeyInfoPem()));

        Assert.Equal("ada", rsa.Authenticate(TokenFactory.Rs256(Rsa, Payload), out _)?.User);
        Assert.Equal("ada", rsa.Authenticate(TokenFactory.Rs256(Rsa, Payload, """{"alg":"RS256","kid":"any"}"""), out _)?.User);
        Assert.Equal("ada", ecdsa.Authenticate(TokenFactory.Es256(Ecdsa, Payload), out _)?.User);
        Assert.Equal("wrong-algorithm", Refusal(rsa, TokenFactory.Es256(Ecdsa, Payload)));
        Assert.Equal("wrong-algorithm", Refusal(ecdsa, TokenFactory.Rs256(Rsa, Payload)));
        Assert.Equal("bad-signature", Refusal(ecdsa, TokenFactory.Es256(Ecdsa, Payload) is var t ? t[..t.LastIndexOf('.')] + "." + new string('A', 86) : ""));
    }

    /// <summary>The classic confusion: the public key, which everybody knows, used as an HMAC secret.</summary>
    [Fact]
    public void Authenticate_PublicKeyUsedAsHmacSecret_IsRefused()
    {
        var pem = Rsa.ExportSubjectPublicKeyInfoPem();

        Assert.Equal("wrong-algorithm", Refusal(Tokens(Pem(pem)), TokenFactory.Hs256(Payload, secret: pem)));
    }

    [Fact]
    public void Authenticate_Jwks_ChoosesByKidAndPinsTheKeysAlgorithm()
    {
        var tokens = Tokens(Jwks($$"""{"keys":[{{RsaJwk("r")}},{{EcJwk("e")}},{"kty":"RSA","use":"enc","alg":"RSA-OAEP","kid":"x"}]}"""));

        Assert.Equal("ada", tokens.Authenticate(TokenFactory.Rs256(Rsa, Payload, """{"alg":"RS256","kid":"r"}"""), out _)?.User);
        Assert.Equal("ada", tokens.Authenticate(TokenFactory.Es256(Ecdsa, Payload, """{"alg":"ES256","kid":"e"}"""), out _)?.User);
        Assert.Equal("wrong-algorithm", Refusal(tokens, TokenFactory.Es256(Ecdsa, Payload, """{"alg":"ES256","kid":"r"}""")));
        Assert.Equal("unknown-key", Refusal(tokens, TokenFactory.Es256(Ecdsa, Payload)));
        Assert.Equal("unknown-key", Refusal(tokens, TokenFactory.Es256(Ecdsa, Payload, """{"alg":"ES256","kid":"z"}""")));
    }

    // RFC 7517 section 5: what is not understood is ignored, so that an issuer may add another kind of key.
    [Theory]
    [InlineData("""{"kty":"OKP","crv":"Ed25519","kid":"o","alg":"EdDSA","use":"sig","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}""")]
    [InlineData("""{"kty":"EC","crv":"P-384","kid":"o","x":"AAAA","y":"AAAA"}""")]
    [InlineData("""{"kty":"EC","crv":"P-256","alg":"ECDH-ES","kid":"o","x":"AAAA","y":"AAAA"}""")]
    [InlineData("""{"kty":"RSA","alg":"PS256","n":"AAAA","e":"AQAB"}""")]
    [InlineData("""{"kty":"AKP","alg":"ML-DSA-44","kid":"o","pub":"AAAA"}""")]
    public void TryReadJwks_KeyOfAnotherKindBesideOurs_IsPassedOver(string other)
    {
        Assert.True(TokenKeyReader.TryReadJwks($$"""{"keys":[{{other}},{{RsaJwk("r")}}]}""", _folder, out var keys, out _));
        Assert.Equal(("r", "RS256"), (Assert.Single(keys).Id, keys[0].Algorithm));
        Assert.False(TokenKeyReader.TryReadJwks($$"""{"keys":[{{other}}]}""", _folder, out _, out var problem));
        Assert.Contains("no key", problem, StringComparison.Ordinal);
    }

    [Theory]
    [InlineData("""{"kty":"oct","kid":"o"}""")]
    [InlineData("""{"kty":"OKP","crv":"Ed25519","kid":"o","d":"AAAA","x":"AAAA"}""")]
    [InlineData("""{"kty":"EC","crv":"P-256","kid":"o","x":"AAAA","y":"AAAA"}""")]
    [InlineData("""{"kty":"EC","kid":"o","x":"AAAA","y":"AAAA"}""")]
    [InlineData("""{"kty":"RSA","kid":"o","n":"AAAA","e":"AQAB"}""")]
    [InlineData("""{"kid":"o"}""")]
    public void TryReadJwks_SecretOrDamagedKeyBesideOurs_IsRefused(string other) =>
        Assert.False(TokenKeyReader.TryReadJwks($$"""{"keys":[{{RsaJwk("r")}},{{other}}]}""", _folder, out _, out _));

    [Fact]
    public void TryReadJwks_File_IsReadFromTheWorkingFolder()
    {
        File.WriteAllText(Path.Combine(_folder, "keys.json"), $$"""{"keys":[{{EcJwk("e")}}]}""");

        Assert.True(TokenKeyReader.TryReadJwks("keys.json", _folder, out var keys, out _));
        Assert.Equal(("e", "ES256"), (keys[0].Id, keys[0].Algorithm));
    }

    [Theory]
    [InlineData("{}")]
    [InlineData("""{"keys":{}}""")]
    [InlineData("""{"keys":[]}""")]
    [InlineData("""{"keys":[5]}""")]
    [InlineData("""{"keys":[{"kty":"oct","k":"AAAA"}]}""")]
    [InlineData("""{"keys":[{"kty":"EC","crv":"P-256","x":"AAAA","y":"AAAA"}]}""")]
    [InlineData("""{"keys":[{"kty":"EC","crv":"P-384","x":"AAAA","y":"AAAA"}]}""")]
    [InlineData("""{"keys":[{"kty":"RSA","alg":"HS256","n":"AAAA","e":"AQAB"}]}""")]
    [InlineData("no-such-file.json")]
    public void TryReadJwks_NotUsable_SaysWhy(string jwks)
    {
        Assert.False(TokenKeyReader.TryReadJwks(jwks, _folder, out _, out var problem));
        Assert.NotEmpty(problem);
    }

    [Fact]
    public void TryReadJwks_AmbiguousKeys_AreRefused()
    {
        Assert.False(TokenKeyReader.TryReadJwks($$"""{"keys":[{{EcJwk("e")}},{{RsaJwk("e")}}]}""", _folder, out _, out _));
        Assert.False(TokenKeyReader.TryReadJwks($$"""{"keys":[{{EcJwk("e")}},{{RsaJwk("e").Replace("\"kid\":\"e\",", "", StringComparison.Ordinal)}}]}""", _folder, out _, out _));
    }

    [Fact]
    public void TryReadPem_NotUsable_SaysWhy()
    {
        using var weak = RSA.Create(1024);
        using var p384 = ECDsa.Create(ECCurve.NamedCurves.nistP384);
        string[] texts = [Rsa.ExportPkcs8PrivateKeyPem(), weak.ExportSubjectPublicKeyInfoPem(), p384.ExportSubjectPublicKeyInfoPem(), "no key at all", ""];

        foreach (var text in texts)
        {
            var file = Path.Combine(_folder, "key.pem");
            File.WriteAllText(file, text);
            Assert.False(TokenKeyReader.TryReadPem(file, out _, out var problem), text);
            Assert.NotEmpty(problem);
        }
    }

    /// <summary>Key and signature were made by another implementation: openssl genpkey, pkey -pubout and dgst -sha256 -sign.</summary>
    [Fact]
    public void Authenticate_KeyAndSignatureOfOpenssl_AreTaken()
    {
        const string pem = """
            -----BEGIN PUBLIC KEY-----
            MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEAyEjmgGQ2HAZCLeQeU2em
            P3/BziKnPwbi7xaW3qvBg1Rrtqbp2hO5oVyHzYwtJl12zR5CdJ9j/pLGcNKfwPRA
            ACrEs+O1c2n5kn/ARJ7vSiVoG5r2V+t+R2XugCOWMELluH6sbI7SyfD8Z64y7X9F
            AEqV9fI+NYGB5oQCjOx3PCR+8ODAkUKJQ3FVCrNc8DkIRcaztQyaL2LVLJfF5wuP
            WdQkyfkAyRMP57+2zlp1KdOyCKB8NypTtnm0gdsOs6DH/ThNpqy+PgGIZ7stjLOl
            4AwNzfl5B7pdif6SMktT1XYNFtEALbFSQWbVpjI7CgnH7H1+v2rtNjSxfMFL4BHD
            OQIDAQAB
            -----END PUBLIC KEY-----
            """;
        const string token = "eyJhbGciOiJSUzI1NiJ9.eyJhdWQiOiJkZW1vIiwic3ViIjoiYWRhIiwiZXhwIjoxODAwMDAzNjAwfQ.K5DiuObL8bULlH5nv4eHYcVA0ZrRffGMPf-AdARDrucXAEW6xVUZtR_h8DpXN7fznIf8NfNRYyxeRl0EXG1NJUOSY9M_WiQA1ej29w-IFAdKP8OG0s5XhT6pL3eza11BUjYk9EjGGFddfI-Snmz3WVP9dSIpK1lV2Y9654RWM80F3wxvhJCsthLr4wZ_0au2RbJz38YwXkLjwULIdqTuMVN6lHZTk_71z9Kub9pyXi_ShM9vb-0Rab24xNDFRyY5B83tTkcJCSdfKaN8LzqFoKpOetKhRjOUahahxTOEvUFONrxeHvFnBeivS_pwBIOTjsoMe7EvVq8rEXaFgAqYvg";

        Assert.Equal("ada", Tokens(Pem(pem)).Authenticate(token, out _)?.User);
        Assert.Equal("bad-signature", Refusal(Tokens(Pem(Rsa.ExportSubjectPublicKeyInfoPem())), token));
    }

    private IReadOnlyList<TokenKey> Pem(string text)
    {
        var file = Path.Combine(_folder, $"{Guid.NewGuid():N}.pem");
        File.WriteAllText(file, text);
        Assert.True(TokenKeyReader.TryReadPem(file, out var keys, out var problem), problem);
        return keys;
    }

    private IReadOnlyList<TokenKey> Jwks(string json)
    {
        Assert.True(TokenKeyReader.TryReadJwks(json, _folder, out var keys, out var problem), problem);
        return keys;
    }

    private static ClientTokens Tokens(IReadOnlyList<TokenKey> keys) =>
        new([new AppOptions("demo", [], new() { PublicKeys = keys })], new FakeTimeProvider(DateTimeOffset.FromUnixTimeSeconds(1_800_000_000)));

    private static string? Refusal(ClientTokens tokens, string token)
    {
        Assert.Null(tokens.Authenticate(token, out var refusal));
        return refusal;
    }

    private static string RsaJwk(string id)
    {
        var key = Rsa.ExportParameters(false);
        return $$"""{"kty":"RSA","kid":"{{id}}","alg":"RS256","n":"{{Base64Url.EncodeToString(key.Modulus)}}","e":"{{Base64Url.EncodeToString(key.Exponent)}}"}""";
    }

    private static string EcJwk(string id)
    {
        var key = Ecdsa.ExportParameters(false);
        return $$"""{"kty":"EC","crv":"P-256","kid":"{{id}}","x":"{{Base64Url.EncodeToString(key.Q.X)}}","y":"{{Base64Url.EncodeToString(key.Q.Y)}}"}""";
    }
}
