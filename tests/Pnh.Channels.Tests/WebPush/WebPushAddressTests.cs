using System.Text;
using System.Text.Json;
using Pnh.Channels.WebPush;
using Pnh.Core.Events;
using Pnh.Core.Users;

namespace Pnh.Channels.Tests.WebPush;

public sealed class WebPushAddressTests
{
    private const string Point = "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4";
    private const string Secret = "BTBZMqHH6r4Tts7J_aSIgg";
    private const string Keys = $$"""{"p256dh":"{{Point}}","auth":"{{Secret}}"}""";

    [Theory]
    [InlineData("""{"endpoint":"https://fcm.googleapis.com/wp/a:B_c-1%20","expirationTime":null,"keys":""")]
    [InlineData("""{"endpoint":"https://fcm.googleapis.com/wp/a:B_c-1%20","keys":""")]
    public void Read_AsTheBrowserGaveIt_OneAddressThatWritesItselfBack(string head)
    {
        var (addresses, errors) = Read(head + Keys + "}");

        Assert.Empty(errors);
        var address = Assert.Single(addresses);
        Assert.Equal(("webpush", "subscription", "canonical"), (address.Channel, address.Kind, address.Scope));
        Assert.Equal($$"""{"endpoint":"https://fcm.googleapis.com/wp/a:B_c-1%20","keys":{{Keys}}}""", Write(address));
        Assert.DoesNotContain("wp", address.ToString(), StringComparison.Ordinal);
    }

    [Theory]
    [InlineData("[]", "", "wrong-type")]
    [InlineData("""{"keys":KEYS}""", "/endpoint", "required")]
    [InlineData("""{"endpoint":1,"keys":KEYS}""", "/endpoint", "wrong-type")]
    [InlineData("""{"endpoint":"https://a/b"}""", "/keys", "required")]
    [InlineData("""{"endpoint":"https://a/b","keys":"x"}""", "/keys", "wrong-type")]
    [InlineData("""{"endpoint":"https://a/b","keys":KEYS,"to/ken":"x"}""", "/to~1ken", "unknown-member")]
    [InlineData("""{"endpoint":"https://a/b","keys":{"p256dh":"x","auth":"BTBZMqHH6r4Tts7J_aSIgg"}}""", "/keys/p256dh", "invalid-key")]
    [InlineData("""{"endpoint":"https://a/b","keys":{"auth":"BTBZMqHH6r4Tts7J_aSIgg"}}""", "/keys/p256dh", "required")]
    [InlineData("""{"endpoint":"https://a/b","keys":{"p256dh":"POINT","auth":"BTBZMqHH6r4Tts7J_aSI"}}""", "/keys/auth", "invalid-key")]
    [InlineData("""{"endpoint":"https://a/b","keys":{"p256dh":"POINT","auth":"BTBZMqHH6r4Tts7J*aSIgg"}}""", "/keys/auth", "invalid-key")]
    [InlineData("""{"endpoint":"http://a/b","keys":KEYS}""", "/endpoint", "invalid-address")]
    [InlineData("""{"endpoint":"https://u:p@a/b","keys":KEYS}""", "/endpoint", "invalid-address")]
    [InlineData("""{"endpoint":"https://a/b","endpoint":"https://a/c","keys":KEYS}""", "/endpoint", "duplicate-member")]
    [InlineData("""{"endpoint":"https://a/b","keys":{"p256dh":"POINT","auth":"BTBZMqHH6r4Tts7J_aSIgg","auth":"BTBZMqHH6r4Tts7J_aSIgg"}}""", "/keys/auth", "duplicate-member")]
    [InlineData("""{"endpoint":"https://a/b#c","keys":KEYS}""", "/endpoint", "invalid-address")]
    [InlineData("""{"endpoint":"https://a/b c","keys":KEYS}""", "/endpoint", "invalid-address")]
    [InlineData("""{"endpoint":"https://a/b\r\nx: y","keys":KEYS}""", "/endpoint", "invalid-address")]
    [InlineData("""{"endpoint":"https://ä.example/b","keys":KEYS}""", "/endpoint", "invalid-address")]
    [InlineData("""{"endpoint":"/b","keys":KEYS}""", "/endpoint", "invalid-address")]
    [InlineData("""{"endpoint":"\ud800","keys":KEYS}""", "", "invalid-text")]
    public void Read_Wrong_NamedAndNoAddress(string json, string pointer, string code)
    {
        var (addresses, errors) = Read(json.Replace("KEYS", Keys, StringComparison.Ordinal).Replace("POINT", Point, StringComparison.Ordinal));

        Assert.Empty(addresses);
        var error = Assert.Single(errors);
        Assert.Equal((pointer, code), (error.Pointer, error.Code));
    }

    [Fact]
    public void Read_PointOffTheCurve_Refused()
    {
        var off = Convert.ToBase64String([4, .. Enumerable.Repeat((byte)1, 64)]).TrimEnd('=');

        var (_, errors) = Read("""{"endpoint":"https://a/b","keys":KEYS}""".Replace("KEYS", Keys.Replace(Point, off, StringComparison.Ordinal), StringComparison.Ordinal));

        Assert.Equal("/keys/p256dh", Assert.Single(errors).Pointer);
    }

    [Theory]
    [InlineData("https://FCM.googleapis.com/wp/a-%2Fb", Point + "=", Secret + "==")]
    [InlineData("https://fcm.googleapis.com:443/wp/a%2d%2fb", Point + "\n", Secret + "\r\n")]
    [InlineData("HTTPS://fcm.googleapis.com:/x/../wp/./%61-%2fb", Point, "BTBZMqHH6r4Tts7J/aSIgg==")]
    [InlineData("https://%66cm.googleapis.com/x/%2E%2e/wp/a%2D%2Fb", "BCVxsr7N/eNgVRqvHtD0zTZsEc6+VV+JvLexhqUzORcxaOzi6+AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4=", Secret)]
    public void Read_OtherSpelling_IsTheSameAddress(string endpoint, string p256dh, string auth)
    {
        var (addresses, errors) = Read(JsonSerializer.Serialize(new { endpoint, keys = new { p256dh, auth } }));

        Assert.Empty(errors);
        var address = Assert.Single(addresses);
        Assert.Equal($"https://fcm.googleapis.com/wp/a-%2Fb {Point} {Secret}", address.Value);
        Assert.Equal(address, WebPushAddress.Respell(address with { Value = $"{endpoint} {p256dh} {auth}", Scope = "" }));
        Assert.Null(WebPushAddress.Respell(address));
    }

    [Theory]
    [InlineData("https://a", "https://a/")]
    [InlineData("https://a:8444/b?c=%7e&d=%e2%82%ac", "https://a:8444/b?c=~&d=%E2%82%AC")]
    [InlineData("https://a/b//c/", "https://a/b//c/")]
    [InlineData("https://a/%4", "https://a/%254")]
    [InlineData("https://a/%2541", "https://a/%2541")]
    [InlineData("https://a/b?x=/../y", "https://a/b?x=/../y")]
    [InlineData("https://[::1]:8444/b", "https://[::1]:8444/b")]
    public void Parse_Endpoint_HasOneSpellingThatStays(string given, string spelled)
    {
        Assert.Equal(spelled, PushEndpoint.Parse(given)!.AbsoluteUri);
        Assert.Equal(spelled, PushEndpoint.Parse(spelled)!.AbsoluteUri);
    }

    [Fact]
    public void Respell_NoSubscription_StaysAsItIs()
    {
        var broken = new PushAddress("webpush", "subscription", "https://a/b x y", "", default);

        Assert.Equal("https://a/b x y", WebPushAddress.Respell(broken)!.Value);
    }

    [Fact]
    public void Parse_EndpointTooLong_Refused()
    {
        var longest = "https://a/" + new string('b', 2038);

        Assert.NotNull(PushEndpoint.Parse(longest));
        Assert.Null(PushEndpoint.Parse(longest + "b"));
    }

    private static (List<PushAddress> Addresses, List<FieldError> Errors) Read(string json)
    {
        using var document = JsonDocument.Parse(json);
        var addresses = new List<PushAddress>();
        var errors = new List<FieldError>();
        WebPushAddress.Read(document.RootElement, default, addresses, errors);
        return (addresses, errors);
    }

    private static string Write(PushAddress address)
    {
        using var stream = new MemoryStream();
        using (var writer = new Utf8JsonWriter(stream))
        {
            writer.WriteStartObject();
            WebPushAddress.Write(writer, [address]);
            writer.WriteEndObject();
        }

        return Encoding.UTF8.GetString(stream.ToArray());
    }
}
