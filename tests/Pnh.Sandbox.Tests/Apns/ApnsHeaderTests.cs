using Pnh.Sandbox.Contract;

namespace Pnh.Sandbox.Tests.Apns;

public sealed class ApnsHeaderTests(SandboxFixture fixture) : IClassFixture<SandboxFixture>
{
    private const string LowerId = "4a9f1c8e-0b6d-4a57-9d0e-2f8f6f7d1c11";

    private readonly SandboxUnderTest _sandbox = fixture.Sandbox;

    [Fact]
    public async Task Answer_IdGiven_EchoedWithUniqueId()
    {
        Answer answer = await new ApnsCaller(_sandbox).With("apns-id", LowerId).SendAsync();

        Assert.Equal(LowerId, answer.Headers["apns-id"]);
        Assert.True(Guid.TryParse(answer.Headers["apns-unique-id"], out _));
    }

    [Fact]
    public async Task Answer_NoId_Created()
    {
        Answer answer = await new ApnsCaller(_sandbox).SendAsync();

        Assert.True(Guid.TryParseExact(answer.Headers["apns-id"], "D", out _));
    }

    [Fact]
    public async Task Answer_Production_HasNoUniqueId()
    {
        await using SandboxUnderTest production = await SandboxUnderTest.StartAsync(o => o.ApnsEnvironment = ApnsEnvironment.Production);

        Answer answer = await new ApnsCaller(production).SendAsync();

        Assert.Equal(200, answer.Status);
        Assert.False(answer.Headers.ContainsKey("apns-unique-id"));
    }

    [Theory]
    [InlineData("apns-id", "4A9F1C8E-0B6D-4A57-9D0E-2F8F6F7D1C11", "BadMessageId")]
    [InlineData("apns-id", "4a9f1c8e0b6d4a579d0e2f8f6f7d1c11", "BadMessageId")]
    [InlineData("apns-push-type", "shout", "InvalidPushType")]
    [InlineData("apns-push-type", "mdm", "InvalidPushType")]
    [InlineData("apns-topic", "com.example.demo.voip", "BadTopic")]
    [InlineData("apns-topic", "com example", "BadTopic")]
    [InlineData("apns-priority", "7", "BadPriority")]
    [InlineData("apns-priority", "high", "BadPriority")]
    [InlineData("apns-expiration", "tomorrow", "BadExpirationDate")]
    [InlineData("apns-expiration", "-1", "BadExpirationDate")]
    [InlineData("apns-expiration", "1.5", "BadExpirationDate")]
    public async Task Header_Wrong_ItsReason(string header, string value, string reason)
    {
        Answer answer = await new ApnsCaller(_sandbox).With(header, value).SendAsync();

        Assert.Equal((400, reason), (answer.Status, answer.Reason));
    }

    [Theory]
    [InlineData("apns-push-type", "InvalidPushType")]
    [InlineData("apns-topic", "MissingTopic")]
    public async Task Header_Missing_ItsReason(string header, string reason)
    {
        Answer answer = await new ApnsCaller(_sandbox).With(header).SendAsync();

        Assert.Equal((400, reason), (answer.Status, answer.Reason));
    }

    [Theory]
    [InlineData("authorization", "bearer x")]
    [InlineData("apns-id", LowerId)]
    [InlineData("apns-push-type", "alert")]
    [InlineData("apns-topic", "com.example.demo")]
    [InlineData("apns-priority", "10")]
    [InlineData("apns-expiration", "0")]
    [InlineData("apns-collapse-id", "a")]
    public async Task Header_Twice_DuplicateHeaders(string header, string value)
    {
        Answer answer = await RawHttp2.PostTwiceAsync(_sandbox, header, value);

        Assert.Equal((400, "DuplicateHeaders"), (answer.Status, answer.Reason));
    }

    [Theory]
    [InlineData("apns-expiration", "0")]
    [InlineData("apns-expiration", "1999999999")]
    [InlineData("apns-priority", "1")]
    [InlineData("apns-priority", "5")]
    public async Task Header_Allowed_Accepted(string header, string value)
    {
        Answer answer = await new ApnsCaller(_sandbox).With(header, value).SendAsync();

        Assert.Equal(200, answer.Status);
    }

    [Theory]
    [InlineData(64, 200, null)]
    [InlineData(65, 400, "BadCollapseId")]
    public async Task CollapseId_Length_AtMost64Bytes(int length, int status, string? reason)
    {
        Answer answer = await new ApnsCaller(_sandbox).With("apns-collapse-id", new string('c', length)).SendAsync();

        Assert.Equal((status, reason), (answer.Status, answer.Reason));
    }

    [Theory]
    [InlineData("alert", "com.example.demo", "10", true)]
    [InlineData("background", "com.example.demo", "5", true)]
    [InlineData("background", "com.example.demo", "10", false)]
    [InlineData("background", "com.example.demo", "1", false)]
    [InlineData("voip", "com.example.demo.voip", "10", true)]
    [InlineData("voip", "com.example.demo.voip", "5", false)]
    [InlineData("location", "com.example.demo.location-query", "5", true)]
    [InlineData("location", "com.example.demo.location-query", "1", false)]
    [InlineData("complication", "com.example.demo.complication", "10", true)]
    [InlineData("fileprovider", "com.example.demo.pushkit.fileprovider", "5", true)]
    [InlineData("liveactivity", "com.example.demo.push-type.liveactivity", "10", true)]
    [InlineData("pushtotalk", "com.example.demo.voip-ptt", "10", true)]
    [InlineData("widgets", "com.example.demo.push-type.widgets", "5", true)]
    [InlineData("controls", "com.example.demo.push-type.controls", "5", true)]
    public async Task PushType_TopicAndPriority_AsInAppleTable(string type, string topic, string priority, bool accepted)
    {
        ApnsCaller caller = new(_sandbox) { Body = BodyOf(type) };

        Answer answer = await caller.As(type, topic, priority).SendAsync();

        Assert.Equal(accepted ? null : "BadPriority", answer.Reason);
        Assert.Equal(accepted ? 200 : 400, answer.Status);
    }

    [Theory]
    [InlineData("voip")]
    [InlineData("location")]
    [InlineData("complication")]
    [InlineData("fileprovider")]
    [InlineData("liveactivity")]
    [InlineData("pushtotalk")]
    [InlineData("widgets")]
    [InlineData("controls")]
    public async Task PushType_TopicWithoutItsSuffix_BadTopic(string type)
    {
        Answer answer = await new ApnsCaller(_sandbox) { Body = BodyOf(type) }.As(type, "com.example.demo", "10").SendAsync();

        Assert.Equal((400, "BadTopic"), (answer.Status, answer.Reason));
    }

    [Fact]
    public async Task Topic_NotOfTheTeam_TopicDisallowed()
    {
        await using SandboxUnderTest sandbox = await SandboxUnderTest.StartAsync(options => options.Topics = ["com.example.mine"]);

        Answer mine = await new ApnsCaller(sandbox).With("apns-topic", "com.example.mine").SendAsync();
        Answer other = await new ApnsCaller(sandbox).With("apns-topic", "com.example.other").SendAsync();

        Assert.Equal(200, mine.Status);
        Assert.Equal((400, "TopicDisallowed"), (other.Status, other.Reason));
    }

    private static string BodyOf(string type) => type switch
    {
        "background" => """{"aps":{"content-available":1}}""",
        "liveactivity" => """{"aps":{"event":"update","timestamp":1700000000,"content-state":{}}}""",
        _ => ApnsCaller.Payload,
    };
}
