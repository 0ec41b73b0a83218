using System.Security.Cryptography;
using Microsoft.Extensions.Configuration;
using Microsoft.Extensions.Logging;
using Pnh.Api.Access;
using Pnh.Api.Configuration;
using Pnh.Api.Operations;
using Pnh.Api.Tests.EndToEnd;
using Pnh.TestKit;

namespace Pnh.Api.Tests.Access;

/// <summary>Keys of client tokens that change under a running node: every way to give them, and what cannot be used.</summary>
public sealed class TokenKeysWatchTests : IDisposable
{
    private const string Payload = """{"aud":"demo","sub":"ada","exp":4000000000}""";
    private static readonly ECDsa First = ECDsa.Create(ECCurve.NamedCurves.nistP256);
    private static readonly ECDsa Second = ECDsa.Create(ECCurve.NamedCurves.nistP256);
    private readonly TemporaryFolder _folder = new();
    private readonly FakeTimeProvider _time = new(DateTimeOffset.UnixEpoch.AddYears(56));
    private readonly ConfigurationManager _configuration = new();
    private readonly RecordedLog _log = new();
    private readonly LoggerFactory _loggers;

    public TokenKeysWatchTests() => _loggers = new LoggerFactory([_log]);

    public void Dispose()
    {
        _loggers.Dispose();
        _configuration.Dispose();
        _folder.Dispose();
    }

    [Fact]
    public void Look_PemFileHasAnotherKey_ItIsTakenAndTheFormerIsNot()
    {
        File.WriteAllText(_folder["key.pem"], First.ExportSubjectPublicKeyInfoPem());
        using var watch = Start(out var tokens, ("PublicKeyFile", _folder["key.pem"]));
        Assert.NotNull(tokens.Authenticate(TokenFactory.Es256(First, Payload), out _));

        File.WriteAllText(_folder["key.pem"], Second.ExportSubjectPublicKeyInfoPem());
        _time.Advance(TimeSpan.FromSeconds(11));

        Assert.NotNull(tokens.Authenticate(TokenFactory.Es256(Second, Payload), out _));
        Assert.Null(tokens.Authenticate(TokenFactory.Es256(First, Payload), out _));
        Assert.Single(_log.Lines, static line => line.Level == LogLevel.Information);
    }

    [Fact]
    public void Look_SetGrowsByAKey_BothAreTaken()
    {
        File.WriteAllText(_folder["keys.json"], $$"""{"keys":[{{Jwk(First, "1")}}]}""");
        using var watch = Start(out var tokens, ("Jwks", _folder["keys.json"]));

        File.WriteAllText(_folder["keys.json"], $$"""{"keys":[{{Jwk(First, "1")}},{{Jwk(Second, "2")}}]}""");
        watch.Look();

        Assert.NotNull(tokens.Authenticate(TokenFactory.Es256(First, Payload, """{"alg":"ES256","kid":"1"}"""), out _));
        Assert.NotNull(tokens.Authenticate(TokenFactory.Es256(Second, Payload, """{"alg":"ES256","kid":"2"}"""), out _));
    }

    [Fact]
    public void Look_SecretIsReplaced_BothCountWhileBothAreNamed()
    {
        var (former, next) = (new string('a', 32), new string('b', 32));
        using var watch = Start(out var tokens, ("Hs256Secret", former));

        Set(("Hs256Secret", next), ("Hs256Secrets:0", former));
        watch.Look();
        Assert.NotNull(tokens.Authenticate(TokenFactory.Hs256(Payload, secret: former), out _));
        Assert.NotNull(tokens.Authenticate(TokenFactory.Hs256(Payload, secret: next), out _));

        Set(("Hs256Secret", next), ("Hs256Secrets:0", null));
        watch.Look();
        Assert.Null(tokens.Authenticate(TokenFactory.Hs256(Payload, secret: former), out _));
        Assert.NotNull(tokens.Authenticate(TokenFactory.Hs256(Payload, secret: next), out _));
        Assert.NotNull(tokens.Authenticate(tokens.Create("demo", "ada", null, TimeSpan.FromHours(1)), out _));
    }

    /// <summary>Also one that is gone: a volume that is away does not lock an app's users out.</summary>
    [Theory]
    [InlineData("")]
    [InlineData("none")]
    [InlineData(null)]
    public void Look_FileCannotBeUsed_TheFormerKeysStayAndItIsSaidOnce(string? content)
    {
        File.WriteAllText(_folder["key.pem"], First.ExportSubjectPublicKeyInfoPem());
        using var watch = Start(out var tokens, ("PublicKeyFile", _folder["key.pem"]));

        if (content is null)
        {
            File.Delete(_folder["key.pem"]);
        }
        else
        {
            File.WriteAllText(_folder["key.pem"], content);
        }

        watch.Look();
        watch.Look();

        Assert.NotNull(tokens.Authenticate(TokenFactory.Es256(First, Payload), out _));
        Assert.Single(_log.Lines, static line => line.Level == LogLevel.Error);
        File.WriteAllText(_folder["key.pem"], Second.ExportSubjectPublicKeyInfoPem());
        watch.Look();
        Assert.NotNull(tokens.Authenticate(TokenFactory.Es256(Second, Payload), out _));
    }

    [Fact]
    public void Read_SecretOfTheListIsTooShort_IsRefusedWithoutTheSecret()
    {
        Set(("Hs256Secret", new string('a', 32)), ("Hs256Secrets:0", "short"));

        var error = Assert.Single(Read().Errors.All).ToString();

        Assert.StartsWith("Pnh:Apps:demo:Tokens:Hs256Secrets: must have at least 32 bytes each", error, StringComparison.Ordinal);
        Assert.DoesNotContain("short", error, StringComparison.Ordinal);
    }

    private TokenKeysWatch Start(out ClientTokens tokens, params (string Key, string? Value)[] settings)
    {
        Set(settings);
        tokens = new ClientTokens(Read().Options.Apps.Values, _time);
        var watch = new TokenKeysWatch(_configuration, tokens, _time, _loggers.CreateLogger<TokenKeysWatch>());
        Assert.True(watch.StartAsync(default).IsCompletedSuccessfully);
        return watch;
    }

    private ConfigurationResult Read() => PnhConfiguration.Read(_configuration, KnownKeys.Hub(), _folder.FullPath);

    private void Set(params (string Key, string? Value)[] settings)
    {
        foreach (var (key, value) in settings)
        {
            _configuration[$"Pnh:Apps:demo:Tokens:{key}"] = value;
        }
    }

    private static string Jwk(ECDsa key, string id)
    {
        var point = key.ExportParameters(includePrivateParameters: false).Q;
        return $$"""{"kty":"EC","crv":"P-256","kid":"{{id}}","x":"{{System.Buffers.Text.Base64Url.EncodeToString(point.X)}}","y":"{{System.Buffers.Text.Base64Url.EncodeToString(point.Y)}}"}""";
    }
}
