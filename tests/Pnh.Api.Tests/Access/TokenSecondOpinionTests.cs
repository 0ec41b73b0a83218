using System.Security.Cryptography;
using System.Text;
using Microsoft.IdentityModel.JsonWebTokens;
using Microsoft.IdentityModel.Tokens;
using Pnh.Api.Access;
using Pnh.TestKit;

namespace Pnh.Api.Tests.Access;

/// <summary>Client tokens beside a library that many use: each takes what the other makes, and the hub takes nothing that the library refuses.</summary>
public sealed class TokenSecondOpinionTests : IDisposable
{
    private static readonly DateTimeOffset Now = new(2026, 5, 1, 12, 0, 0, TimeSpan.Zero);
    private static readonly JsonWebTokenHandler Library = new() { SetDefaultTimesOnTokenCreation = false };
    private readonly RSA _rsa = RSA.Create(2048);
    private readonly ECDsa _ecdsa = ECDsa.Create(ECCurve.NamedCurves.nistP256);
    private readonly SymmetricSecurityKey _secret = new(Encoding.UTF8.GetBytes(TokenFactory.Secret));

    public void Dispose()
    {
        _rsa.Dispose();
        _ecdsa.Dispose();
    }

    [Fact]
    public async Task Create_Token_IsTakenByTheLibrary()
    {
        var token = Shared().Create("demo", "ada/☎", "phone-1", TimeSpan.FromHours(1), ["room-7", "room-8"]);

        var read = await Library.ValidateTokenAsync(token, Rules(_secret));

        Assert.True(read.IsValid, read.Exception?.Message);
        Assert.Equal(("ada/☎", "phone-1"), (read.Claims["sub"], read.Claims["device"]));
        Assert.Equal(["room-7", "room-8"], (IEnumerable<object>)read.Claims["topics"]);
        Assert.Equal(Now.AddHours(1).UtcDateTime, read.SecurityToken.ValidTo);
    }

    [Fact]
    public void Authenticate_TokensOfTheLibrary_AreTaken()
    {
        Assert.Equal("ada", Shared().Authenticate(Make(new(_secret, SecurityAlgorithms.HmacSha256)), out _)?.User);
        Assert.Equal("ada", Public(_rsa.ExportSubjectPublicKeyInfoPem()).Authenticate(Make(new(new RsaSecurityKey(_rsa), SecurityAlgorithms.RsaSha256)), out _)?.User);
        Assert.Equal("ada", Public(_ecdsa.ExportSubjectPublicKeyInfoPem()).Authenticate(Make(new(new ECDsaSecurityKey(_ecdsa), SecurityAlgorithms.EcdsaSha256)), out _)?.User);
    }

    /// <summary>Ten thousand tokens that differ from a good one in up to three places: what the hub takes, the library takes too, with the same user.</summary>
    [Fact]
    public async Task Authenticate_ChangedTokens_TakesNoneThatTheLibraryRefuses()
    {
        var hub = Shared();
        var good = Make(new(_secret, SecurityAlgorithms.HmacSha256));
        var random = new Random(7);
        var (taken, refused) = (0, 0);
        for (var i = 0; i < 10_000; i++)
        {
            var changed = new StringBuilder(good);
            for (var places = random.Next(4); places > 0; places--)
            {
                changed[random.Next(changed.Length)] = "ABCabc019-_.="[random.Next(13)];
            }

            if (hub.Authenticate(changed.ToString(), out _) is { } identity)
            {
                taken++;
                var read = await Library.ValidateTokenAsync(changed.ToString(), Rules(_secret));
                Assert.True(read.IsValid, changed.ToString());
                Assert.Equal(identity.User, read.Claims["sub"]);
            }
            else
            {
                refused++;
            }
        }

        Assert.True(taken > 1_000 && refused > 1_000, $"{taken} taken, {refused} refused");
    }

    [Theory]
    [InlineData(-61, false)]
    [InlineData(-59, true)]
    [InlineData(1, true)]
    public async Task Authenticate_AroundTheExpiry_AgreesWithTheLibrary(int left, bool isTaken)
    {
        var token = Make(new(_secret, SecurityAlgorithms.HmacSha256), Now.AddSeconds(left));

        Assert.Equal(isTaken, Shared().Authenticate(token, out _) is not null);
        Assert.Equal(isTaken, (await Library.ValidateTokenAsync(token, Rules(_secret))).IsValid);
    }

    private static string Make(SigningCredentials credentials, DateTimeOffset? expires = null) => Library.CreateToken(new SecurityTokenDescriptor
    {
        Audience = "demo",
        Expires = (expires ?? Now.AddHours(1)).UtcDateTime,
        Claims = new Dictionary<string, object> { ["sub"] = "ada" },
        SigningCredentials = credentials,
    });

    // The hub's clock and the hub's 60 s of skew.
    private static TokenValidationParameters Rules(SecurityKey key) => new()
    {
        IssuerSigningKey = key,
        ValidAudience = "demo",
        ValidateIssuer = false,
        ValidAlgorithms = [SecurityAlgorithms.HmacSha256],
        LifetimeValidator = static (_, expires, _, _) => expires > Now.AddSeconds(-60).UtcDateTime,
    };

    private static ClientTokens Shared() => new([new AppOptions("demo", [], new() { Hs256Secrets = [TokenFactory.Secret] })], new FakeTimeProvider(Now));

    private static ClientTokens Public(string pem)
    {
        var file = Path.GetTempFileName();
        File.WriteAllText(file, pem);
        Assert.True(TokenKeyReader.TryReadPem(file, out var keys, out var problem), problem);
        File.Delete(file);
        return new([new AppOptions("demo", [], new() { PublicKeys = keys })], new FakeTimeProvider(Now));
    }
}
