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
        Assert.Equal(("webpush", "subscription", ""), (address.Channel, address.Kind, address.Scope));
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
    [InlineData("""{"endpoint":"https://a/b","keys":{"p256dh":"POINT","auth":"BTBZMqHH6r4Tts7J+aSIgg"}}""", "/keys/auth", "invalid-key")]
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

    [Fact]
    public void Parse_EndpointTooLong_Refused()
    {
        var longest = "https://a/" + new string('b', 2038);

        Assert.NotNull(PushSubscription.ParseEndpoint(longest));
        Assert.Null(PushSubscription.ParseEndpoint(longest + "b"));
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
