using System.Text.Json;
using Pnh.Channels.Fcm;
using Pnh.Core.Events;
using Pnh.Core.Users;

namespace Pnh.Channels.Tests.Fcm;

public sealed class FcmAddressTests
{
    private static readonly DateTimeOffset Now = new(2026, 1, 1, 0, 0, 0, TimeSpan.Zero);

    [Theory]
    [InlineData("""{"token":"cX1:APA91b-_x"}""", "token", "cX1:APA91b-_x")]
    [InlineData("""{"fid":"cX1_abcdefghijklmnopqr"}""", "fid", "cX1_abcdefghijklmnopqr")]
    [InlineData("""{"calls":"data","token":"cX1:APA91b-_x"}""", "token calls=data", "cX1:APA91b-_x")]
    [InlineData("""{"fid":"cX1_abcdefghijklmnopqr","calls":"data"}""", "fid calls=data", "cX1_abcdefghijklmnopqr")]
    public void Read_ExactlyOne_Address(string section, string kind, string value)
    {
        var (addresses, errors) = Read(section);

        Assert.Empty(errors);
        Assert.Equal(new PushAddress("fcm", kind, value, "", Now), Assert.Single(addresses));
    }

    [Theory]
    [InlineData("""{"token":"a","fid":"b"}""", "", "too-many")]
    [InlineData("""{"token":"a","token":"b"}""", "/token", "duplicate-member")]
    [InlineData("""{"token":"a","project":"b","project":"c"}""", "/project", "duplicate-member")]
    [InlineData("""{"token":"a","calls":"notification"}""", "/calls", "invalid-value")]
    [InlineData("""{"token":"a","calls":true}""", "/calls", "invalid-value")]
    [InlineData("""{"token":"a","calls":"data","calls":"data"}""", "/calls", "duplicate-member")]
    [InlineData("""{"calls":"data"}""", "", "required")]
    [InlineData("""{}""", "", "required")]
    [InlineData("""{"token":""}""", "/token", "invalid-address")]
    [InlineData("""{"token":"a\"b"}""", "/token", "invalid-address")]
    [InlineData("""{"fid":7}""", "/fid", "wrong-type")]
    [InlineData("""{"token":"a","other":"b"}""", "/other", "unknown-member")]
    [InlineData("""{"token":"\ud800"}""", "", "invalid-text")]
    [InlineData("""{"token":"aa","\ud800":"aa"}""", "", "invalid-text")]
    [InlineData("""7""", "", "wrong-type")]
    public void Read_WrongSection_ErrorAndNoAddress(string section, string pointer, string code)
    {
        var (addresses, errors) = Read(section);

        Assert.Empty(addresses);
        Assert.Equal((pointer, code), (Assert.Single(errors).Pointer, errors[0].Code));
    }

    [Theory]
    [InlineData("""{"token":"a","calls":"data","project":"p"}""")]
    [InlineData("""{"fid":"a","calls":"data"}""")]
    [InlineData("""{"token":"a"}""")]
    public void Write_Address_IsTheSectionThatMadeIt(string section)
    {
        using var stream = new MemoryStream();
        using (var writer = new Utf8JsonWriter(stream))
        {
            writer.WriteStartObject();
            FcmAddress.Write(writer, Read(section).Addresses);
            writer.WriteEndObject();
        }

        Assert.Equal(section, System.Text.Encoding.UTF8.GetString(stream.ToArray()));
    }

    [Fact]
    public void Read_ManyProjects_AreNotKept()
    {
        for (var n = 0; n < 20_000; n++)
        {
            var address = Assert.Single(Read($$"""{"token":"a","project":"project-of-a-client-{{n}}"}""").Addresses);
            Assert.Equal($"project-of-a-client-{n}", address.Scope);
            Assert.Null(string.IsInterned(address.Scope));
        }
    }

    private static (List<PushAddress> Addresses, List<FieldError> Errors) Read(string json)
    {
        using var document = JsonDocument.Parse(json);
        List<PushAddress> addresses = [];
        List<FieldError> errors = [];
        FcmAddress.Read(document.RootElement, Now, addresses, errors);
        return (addresses, errors);
    }
}
