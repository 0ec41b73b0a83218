using System.Buffers.Text;
using System.Text;
using Pnh.Channels.WebPush;
using Pnh.Sandbox.WebPush;

namespace Pnh.Channels.Tests.WebPush;

public sealed class WebPushEncryptionTests
{
    private const string Watermelon = "When I grow up, I want to be a watermelon";
    private const string SenderScalar = "yfWPiYE-n46HLnH0KqZOF1fJJU3MYrct3AELtAQ-oRw";
    private const string SenderPoint = "BP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl7A8";
    private const string BrowserScalar = "q1dXpw3UpT5VOmu_cf_v6ih07Aems3njxI-JWgLcM94";
    private const string BrowserPoint = "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4";
    private const string BrowserSecret = "BTBZMqHH6r4Tts7J_aSIgg";
    private const string Salt = "DGv6ra1nlYgDCS1FRnbzlw";
    private const string Body =
        "DGv6ra1nlYgDCS1FRnbzlwAAEABBBP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl7A_yl95bQpu6cVPT"
        + "pK4Mqgkf1CXztLVBSt2Ks3oZwbuwXPXLWyouBWLVWGNWQexSgSxsj_Qulcy4a-fN";

    [Fact]
    public void Encrypt_KeysAndSaltOfRfc8291_ItsBodyByteForByte()
    {
        using var pair = Browsers.Pair(SenderScalar, SenderPoint);

        var body = WebPushEncryption.Encrypt(Encoding.ASCII.GetBytes(Watermelon), Subscription(BrowserPoint, BrowserSecret), pair, Browsers.Bytes(Salt));

        Assert.Equal(Body, Base64Url.EncodeToString(body));
    }

    [Fact]
    public void Browser_BodyOfRfc8291_ReadsIt()
    {
        var browser = new Browser(Browsers.Bytes(BrowserScalar), Browsers.Bytes(BrowserSecret));

        Assert.Equal((BrowserPoint, BrowserSecret), (browser.P256dh, browser.Auth));
        Assert.Equal(Watermelon, browser.ReadText(Browsers.Bytes(Body)));
    }

    [Fact]
    public void Encode_KeyAndSaltOfRfc8188Section31_ItsBodyByteForByte()
    {
        var body = WebPushEncryption.Encode("I am the walrus"u8, Browsers.Bytes("yqdlZ-tYemfogSmv7Ws5PQ"), Browsers.Bytes("I1BsxtFttlv3u_Oo94xnmw"), []);

        Assert.Equal("I1BsxtFttlv3u_Oo94xnmwAAEAAA-NAVub2qFgBEuQKRapoZu-IxkIva3MEB1PD-ly8Thjg", Base64Url.EncodeToString(body));
    }

    [Fact]
    public void Browser_TwoRecordsAndPaddingOfRfc8188Section32_ReadsThem()
    {
        var body = Browsers.Bytes("uNCkWiNYzKTnBN9ji3-qWAAAABkCYTHOG8chz_gnvgOqdGYovxyjuqRyJFjEDyoF1Fvkj6hQPdPHI51OEUKEpgz3SsLWIqS_uA");

        Assert.Equal("a1", Encoding.ASCII.GetString(EncryptedContent.KeyId(body)!));
        Assert.Equal("I am the walrus", Encoding.ASCII.GetString(EncryptedContent.Decode(body, Browsers.Bytes("BO3ZVPxUlnLORbVGMpbT1Q"), out _)!));
    }

    [Theory]
    [InlineData(0)]
    [InlineData(1)]
    [InlineData(3993)]
    public void Encrypt_AnyLength_BrowserReadsItAndTheBodyHasNoRoomToSpare(int length)
    {
        var browser = Browsers.Create();
        var plain = new string('x', length);

        var body = WebPushEncryption.Encrypt(Encoding.ASCII.GetBytes(plain), Subscription(browser.P256dh, browser.Auth));

        Assert.Equal(plain, browser.ReadText(body));
        Assert.Equal(length + 103, body.Length);
    }

    [Fact]
    public void Encrypt_SameTextTwice_NewPairAndSalt()
    {
        var browser = Browsers.Create();
        var to = Subscription(browser.P256dh, browser.Auth);

        var one = WebPushEncryption.Encrypt("x"u8, to);
        var two = WebPushEncryption.Encrypt("x"u8, to);

        Assert.NotEqual(one[..16], two[..16]);
        Assert.NotEqual(EncryptedContent.KeyId(one), EncryptedContent.KeyId(two));
    }

    [Fact]
    public void Encrypt_ForSomebodyElse_CannotBeRead()
    {
        var browser = Browsers.Create();
        var other = Browsers.Create();
        var body = WebPushEncryption.Encrypt("x"u8, Subscription(browser.P256dh, browser.Auth));

        Assert.Equal("x", browser.ReadText(body));
        Assert.Null(other.Read(body, out var error));
        Assert.Equal("Record 0 cannot be opened, or its delimiter is wrong.", error);
    }

    private static PushSubscription Subscription(string p256dh, string auth) =>
        PushSubscription.Read("https://push.example.net/p/1", p256dh, auth)!;
}
