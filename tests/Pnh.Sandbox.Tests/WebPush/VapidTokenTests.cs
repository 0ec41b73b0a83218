using System.Buffers.Text;
using System.Security.Cryptography;
using Pnh.Sandbox.WebPush;

namespace Pnh.Sandbox.Tests.WebPush;

public sealed class VapidTokenTests : IDisposable
{
    private static readonly DateTimeOffset Now = DateTimeOffset.FromUnixTimeSeconds(1_700_000_000);
    private const string Header = """{"typ":"JWT","alg":"ES256"}""";

    private readonly ECDsa _key = ECDsa.Create(ECCurve.NamedCurves.nistP256);

    public void Dispose() => _key.Dispose();

    [Theory]
    [InlineData("vapid t={0}, k={1}")]
    [InlineData("vapid t={0},k={1}")]
    [InlineData("Vapid k={1} , t={0}")]
    public void Read_Good_ItsClaimsAndKey(string form)
    {
        VapidToken token = Read(Write(form), out string error)!;

        Assert.Equal(("https://localhost:8444", "mailto:ops@example.com", ""), (token.Audience, token.Subject, error));
        Assert.Equal(BrowserCaller.PointOf(_key), Base64Url.EncodeToString(token.Key));
    }

    [Theory]
    [InlineData("")]
    [InlineData("vapid")]
    [InlineData("vapid ")]
    [InlineData("bearer t={0}, k={1}")]
    [InlineData("vapid t={0}")]
    [InlineData("vapid k={1}")]
    [InlineData("vapid t={0}; k={1}")]
    [InlineData("vapid t={0}, k={1}, k={1}")]
    [InlineData("vapid t={0}, t={0}")]
    [InlineData("vapid t={0}, k={1}, x=1")]
    [InlineData("vapid t={0}, k={1}=")]
    [InlineData("vapid t={0}=, k={1}")]
    [InlineData("vapid t=\"{0}\", k={1}")]
    [InlineData("vapid t={0}.{0}, k={1}")]
    [InlineData("WebPush {0}")]
    public void Read_OutOfForm_Refused(string form)
    {
        Assert.Null(Read(Write(form), out string error));
        Assert.NotEmpty(error);
    }

    [Theory]
    [InlineData("""{"typ":"JWT","alg":"HS256"}""")]
    [InlineData("""{"typ":"JWT","alg":"none"}""")]
    [InlineData("""{"typ":"JWT"}""")]
    [InlineData("[]")]
    public void Read_OtherAlgorithm_Refused(string header) => Assert.Null(Read(Write(header: header), out _));

    [Theory]
    [InlineData("""{"exp":1700003600,"sub":"mailto:ops@example.com"}""", "aud is missing.")]
    [InlineData("""{"aud":["https://localhost:8444"],"exp":1700003600,"sub":"mailto:ops@example.com"}""", "aud is missing.")]
    [InlineData("""{"aud":"https://localhost:8444","sub":"mailto:ops@example.com"}""", "exp must be ahead, by 24 hours at most.")]
    [InlineData("""{"aud":"https://localhost:8444","exp":"1700003600","sub":"mailto:ops@example.com"}""", "exp must be ahead, by 24 hours at most.")]
    [InlineData("""{"aud":"https://localhost:8444","exp":1700000000,"sub":"mailto:ops@example.com"}""", "exp must be ahead, by 24 hours at most.")]
    [InlineData("""{"aud":"https://localhost:8444","exp":1700086401,"sub":"mailto:ops@example.com"}""", "exp must be ahead, by 24 hours at most.")]
    [InlineData("""{"aud":"https://localhost:8444","exp":1700003600}""", "sub must be a mailto: or https: address.")]
    [InlineData("""{"aud":"https://localhost:8444","exp":1700003600,"sub":"ops@example.com"}""", "sub must be a mailto: or https: address.")]
    [InlineData("""{"aud":"https://localhost:8444","exp":1700003600,"sub":"http://example.com"}""", "sub must be a mailto: or https: address.")]
    public void Read_ClaimWrong_RefusedAndNamed(string claims, string expected)
    {
        Assert.Null(Read(Write(claims: claims), out string error));
        Assert.Equal(expected, error);
    }

    [Theory]
    [InlineData("""{"aud":"https://localhost:8444","exp":1700086400,"sub":"https://example.com/contact"}""")]
    [InlineData("""{"aud":"https://localhost:8444","exp":1700000001,"sub":"mailto:ops@example.com"}""")]
    public void Read_ClaimsAtTheirLimits_Good(string claims) => Assert.NotNull(Read(Write(claims: claims), out _));

    [Fact]
    public void Read_SignedByAnotherKeyOrInDer_Refused()
    {
        using ECDsa other = ECDsa.Create(ECCurve.NamedCurves.nistP256);
        string claims = Claims();

        Assert.Null(Read($"vapid t={Jwt.Es256(other, Header, claims)}, k={BrowserCaller.PointOf(_key)}", out _));
        Assert.Null(Read($"vapid t={Jwt.Es256(_key, Header, claims, DSASignatureFormat.Rfc3279DerSequence)}, k={BrowserCaller.PointOf(_key)}", out _));
    }

    [Theory]
    [InlineData(65, 2)]
    [InlineData(65, 4)]
    [InlineData(64, 4)]
    [InlineData(66, 4)]
    public void Read_KeyThatIsNoPoint_Refused(int bytes, byte first)
    {
        byte[] point = [first, .. Enumerable.Repeat((byte)1, bytes - 1)];

        Assert.Null(Read($"vapid t={Jwt.Es256(_key, Header, Claims())}, k={Base64Url.EncodeToString(point)}", out _));
    }

    private static VapidToken? Read(string authorization, out string error) => VapidToken.Read(authorization, Now, out error);

    private static string Claims() => """{"aud":"https://localhost:8444","exp":1700003600,"sub":"mailto:ops@example.com"}""";

    private string Write(string form = "vapid t={0}, k={1}", string header = Header, string? claims = null) => form
        .Replace("{0}", Jwt.Es256(_key, header, claims ?? Claims()), StringComparison.Ordinal)
        .Replace("{1}", BrowserCaller.PointOf(_key), StringComparison.Ordinal);
}
