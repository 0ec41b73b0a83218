using System.Security.Cryptography;
using Pnh.Channels.WebPush;
using Pnh.Sandbox.WebPush;
using Pnh.TestKit;

namespace Pnh.Channels.Tests.WebPush;

public sealed class VapidCredentialTests : IDisposable
{
    private static readonly Uri Endpoint = new("https://push.example.net/p/JzLQ3raZJfFBR0aqvOMsLrt54w4rJUsV");

    private readonly FakeTimeProvider _time = new();
    private readonly ECDsa _key = ECDsa.Create(ECCurve.NamedCurves.nistP256);
    private readonly VapidCredential _credential;

    public VapidCredentialTests() => _credential = Create(_time);

    [Fact]
    public void For_TimeAndSubjectOfRfc8292_ItsHeaderAndClaimsCharacterForCharacter()
    {
        // Section 2.4: exp is 1453523768. The signature has a random number in it, so it is verified, not compared.
        var time = new FakeTimeProvider(DateTimeOffset.FromUnixTimeSeconds(1453523768) - VapidCredential.Lifetime);
        using var credential = Create(time);

        var authorization = credential.For(Endpoint);

        Assert.StartsWith(
            "vapid t=eyJ0eXAiOiJKV1QiLCJhbGciOiJFUzI1NiJ9.eyJhdWQiOiJodHRwczovL3B1c2guZXhhbXBsZS5uZXQiLCJleHAiOjE0NTM1MjM3NjgsInN1YiI6Im1haWx0bzpwdXNoQGV4YW1wbGUuY29tIn0.",
            authorization,
            StringComparison.Ordinal);
        Vapid.Verify(authorization, time.GetUtcNow());
    }

    [Fact]
    public void Verify_ExampleOfRfc8292_Accepted()
    {
        // So that the sandbox's verifier is known to understand the form.
        var claims = Vapid.Verify(
            "vapid t=eyJ0eXAiOiJKV1QiLCJhbGciOiJFUzI1NiJ9.eyJhdWQiOiJodHRwczovL3B1c2guZXhhbXBsZS5uZXQiLCJleHAiOjE0NTM1MjM3NjgsInN1YiI6Im1haWx0bzpwdXNoQGV4YW1wbGUuY29tIn0."
            + "i3CYb7t4xfxCDquptFOepC9GAu_HLGkMlMuCGSK2rpiUfnK9ojFwDXb1JrErtmysazNjjvW2L9OkSSHzvoD1oA, k=BA1Hxzyi1RUM1b5wjxsn7nGxAszw2u61m164i3MrAIxHF6YK5h4SDYic-dRuU_RCPCfA5aq9ojSwk5Y2EmClBPs",
            DateTimeOffset.FromUnixTimeSeconds(1453523768).AddHours(-1));

        Assert.Equal("https://push.example.net", claims.Audience);
    }

    [Theory]
    [InlineData("https://Push.Example.net:443/p/1", "https://push.example.net")]
    [InlineData("https://push.example.net:8443/p/1", "https://push.example.net:8443")]
    [InlineData("https://[2a00::1]:8443/p/1", "https://[2a00::1]:8443")]
    public void For_Endpoint_AudienceIsItsOrigin(string endpoint, string audience) =>
        Assert.Equal(audience, Vapid.Verify(_credential.For(new Uri(endpoint)), _time.GetUtcNow()).Audience);

    [Fact]
    public void For_SameOrigin_SameStringUntilSixHoursAndNewAtTheLatestAfterSeven()
    {
        var first = _credential.For(Endpoint);

        _time.Advance(VapidCredential.RenewalAge - TimeSpan.FromSeconds(1));
        Assert.Same(first, _credential.For(new Uri("https://push.example.net/p/another")));
        Assert.NotEqual(first, _credential.For(new Uri("https://other.example.net/p/1")));

        _time.Advance(TimeSpan.FromHours(1) + TimeSpan.FromSeconds(1));
        var second = _credential.For(Endpoint);
        Assert.NotEqual(first, second);
        Vapid.Verify(second, _time.GetUtcNow());
    }

    [Fact]
    public async Task For_ManyCallersAtOnce_SignedOnce()
    {
        var headers = await Task.WhenAll(Enumerable.Range(0, 64).Select(_ => Task.Run(() => _credential.For(Endpoint))));

        Assert.Single(headers.Distinct());
    }

    [Fact]
    public void For_EndlessOrigins_EachIsServed()
    {
        for (var i = 0; i < 1100; i++)
        {
            Vapid.Verify(_credential.For(new Uri($"https://h{i}.example.net/")), _time.GetUtcNow());
        }
    }

    public void Dispose()
    {
        _credential.Dispose();
        _key.Dispose();
    }

    private VapidCredential Create(TimeProvider time) => new(ECDsa.Create(_key.ExportParameters(true)), "mailto:push@example.com", time);
}

/// <summary>The sandbox's check of the credential, and the exact form that ours has.</summary>
internal static class Vapid
{
    public static VapidToken Verify(string authorization, DateTimeOffset now)
    {
        Assert.Matches(@"^vapid t=([\w-]+)\.([\w-]+)\.([\w-]+), k=([\w-]+)$", authorization);
        var token = VapidToken.Read(authorization, now, out var error);
        Assert.True(token is not null, error);
        return token;
    }
}
