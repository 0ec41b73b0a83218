using System.Text;
using System.Text.Json;
using Pnh.Channels.Apns;
using Pnh.Channels.Tests.Http;
using Pnh.Core.Events;
using Pnh.Core.Users;
using Pnh.TestKit;

namespace Pnh.Channels.Tests.Apns;

public sealed class ApnsAddressTests
{
    private static readonly DateTimeOffset Now = new(2026, 1, 1, 0, 0, 0, TimeSpan.Zero);

    [Theory]
    [InlineData("""{"token":"00aa"}""", """{"token":"00aa","environment":"production"}""")]
    [InlineData("""{"token":"00AA","environment":"sandbox"}""", """{"token":"00aa","environment":"sandbox"}""")]
    [InlineData(
        """{"token":"00aa","voipToken":"bb","liveActivityToken":"cc","topic":"com.example","environment":"production"}""",
        """{"token":"00aa","voipToken":"bb","liveActivityToken":"cc","topic":"com.example","environment":"production"}""")]
    public void Read_ValidSection_WrittenBackTheSame(string section, string expected)
    {
        var (addresses, errors) = Read(section);
        Assert.Empty(errors);

        Assert.Equal(expected, Write(addresses));
        Assert.Equal(addresses, Read(Write(addresses)).Addresses);
    }

    [Fact]
    public void Read_ManyTopics_AreNotKept()
    {
        for (var n = 0; n < 20_000; n++)
        {
            var address = Assert.Single(Read($$"""{"token":"aa","topic":"com.example.{{new string('x', 130)}}{{n}}"}""").Addresses);
            Assert.Null(string.IsInterned(address.Scope));
        }

        Assert.Equal("production/com.example", Assert.Single(Read("""{"token":"aa","topic":"com.example"}""").Addresses).Scope);
    }

    [Theory]
    [InlineData("""{"token":"xyz0"}""", "/token", "invalid-address")]
    [InlineData("""{"token":"abc"}""", "/token", "invalid-address")]
    [InlineData("""{"token":""}""", "/token", "invalid-address")]
    [InlineData("""{"token":"aa/../bb"}""", "/token", "invalid-address")]
    [InlineData("""{"voipToken":7}""", "/voipToken", "wrong-type")]
    [InlineData("""{"token":"aa","environment":"test"}""", "/environment", "invalid-value")]
    [InlineData("""{"token":"aa","topic":"com.example\r\nx: y"}""", "/topic", "invalid-value")]
    [InlineData("""{"token":"aa","to/ken":"aa"}""", "/to~1ken", "unknown-member")]
    [InlineData("""{"token":"aa","token":"bb"}""", "/token", "duplicate-member")]
    [InlineData("""{"token":"aa","topic":"com.example","topic":"com.other"}""", "/topic", "duplicate-member")]
    [InlineData("""{"topic":"com.example"}""", "", "required")]
    [InlineData("""{"token":"\ud800"}""", "", "invalid-text")]
    [InlineData("""{"token":"aa","\ud800":"aa"}""", "", "invalid-text")]
    [InlineData("""["aa"]""", "", "wrong-type")]
    public void Read_WrongMember_ErrorAndNoAddress(string section, string pointer, string code)
    {
        var (addresses, errors) = Read(section);

        Assert.Empty(addresses);
        Assert.Equal((pointer, code), (Assert.Single(errors).Pointer, errors[0].Code));
    }

    [Theory]
    [InlineData(200, true)]
    [InlineData(202, false)]
    public void Read_TokenLength_UpTo200(int characters, bool valid) =>
        Assert.Equal(valid, Read($$"""{"token":"{{new string('a', characters)}}"}""").Errors.Count == 0);

    [Fact]
    public void Read_SeveralErrors_AllReported() =>
        Assert.Equal(3, Read("""{"token":"x","voipToken":1,"environment":"no"}""").Errors.Count);

    [Theory]
    [InlineData(EventClass.Call, "token voipToken", "voipToken")]
    [InlineData(EventClass.Call, "token", "token")]
    [InlineData(EventClass.Message, "voipToken token", "token")]
    [InlineData(EventClass.Message, "voipToken", null)]
    [InlineData(EventClass.Bulk, "liveActivityToken", null)]
    public async Task SelectAddress_Class_Kind(EventClass @class, string kinds, string? expected)
    {
        await using var host = new ChannelHost(new FakeTimeProvider(), []);
        Assert.Equal(expected, host.Channel("apns").SelectAddress(Device(kinds), Sample.Event(new FakeTimeProvider(), @class))?.Kind);
    }

    [Fact]
    public async Task SelectAddress_LiveActivityUpdate_ItsOwnToken()
    {
        await using var host = new ChannelHost(new FakeTimeProvider(), []);
        var update = Sample.Event(new FakeTimeProvider(), overrides: new() { ["apns"] = """{"aps":{"event":"update","content-state":{}}}""" });

        Assert.Equal("liveActivityToken", host.Channel("apns").SelectAddress(Device("token liveActivityToken"), update)?.Kind);
        Assert.Null(host.Channel("apns").SelectAddress(Device("token"), update));
    }

    private static Device Device(string kinds) => new()
    {
        Id = "phone",
        Platform = Platform.Ios,
        RegisteredAt = Now,
        Addresses = [new PushAddress("fcm", "token", "x", "", Now), .. kinds.Split(' ').Select(kind => ApnsFixture.Address(kind))],
    };

    private static (List<PushAddress> Addresses, List<FieldError> Errors) Read(string json)
    {
        using var document = JsonDocument.Parse(json);
        List<PushAddress> addresses = [];
        List<FieldError> errors = [];
        ApnsAddress.Read(document.RootElement, Now, addresses, errors);
        return (addresses, errors);
    }

    private static string Write(List<PushAddress> addresses)
    {
        using var stream = new MemoryStream();
        using (var writer = new Utf8JsonWriter(stream))
        {
            writer.WriteStartObject();
            ApnsAddress.Write(writer, addresses);
            writer.WriteEndObject();
        }

        return Encoding.UTF8.GetString(stream.ToArray());
    }
}
