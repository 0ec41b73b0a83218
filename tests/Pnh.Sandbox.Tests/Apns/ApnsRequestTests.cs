using System.Text;
using Pnh.Sandbox.Contract;

namespace Pnh.Sandbox.Tests.Apns;

public sealed class ApnsRequestTests(SandboxFixture fixture) : IClassFixture<SandboxFixture>
{
    private readonly SandboxUnderTest _sandbox = fixture.Sandbox;

    [Theory]
    [InlineData("GET")]
    [InlineData("PUT")]
    [InlineData("DELETE")]
    public async Task Method_NotPost_MethodNotAllowed(string method)
    {
        Answer answer = await new ApnsCaller(_sandbox) { Method = new HttpMethod(method) }.SendAsync();

        Assert.Equal((405, "MethodNotAllowed"), (answer.Status, answer.Reason));
    }

    [Theory]
    [InlineData("/")]
    [InlineData("/3/devices/aa")]
    [InlineData("/4/device/aa")]
    [InlineData("/3/device/aa/bb")]
    [InlineData("/3/device/aa?x=1")]
    public async Task Path_Unknown_BadPath(string path)
    {
        Answer answer = await new ApnsCaller(_sandbox) { Path = path }.SendAsync();

        Assert.Equal((404, "BadPath"), (answer.Status, answer.Reason));
    }

    [Fact]
    public async Task DeviceToken_Absent_MissingDeviceToken()
    {
        Answer answer = await new ApnsCaller(_sandbox) { Path = "/3/device/" }.SendAsync();

        Assert.Equal((400, "MissingDeviceToken"), (answer.Status, answer.Reason));
    }

    [Theory]
    [InlineData("zz")]
    [InlineData("abc")]
    [InlineData("00112233445566778899gg")]
    public async Task DeviceToken_NotHex_BadDeviceToken(string token)
    {
        Answer answer = await new ApnsCaller(_sandbox) { Address = token }.SendAsync();

        Assert.Equal((400, "BadDeviceToken"), (answer.Status, answer.Reason));
    }

    [Theory]
    [InlineData("ab")]
    [InlineData("AABBccdd00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff00112233445566778899")]
    public async Task DeviceToken_AnyLengthOfHex_Accepted(string token)
    {
        Answer answer = await new ApnsCaller(_sandbox) { Address = token }.SendAsync();

        Assert.Equal(200, answer.Status);
        Assert.NotNull(_sandbox.Server.Phones.Find(token));
    }

    [Theory]
    [InlineData("alert", "com.example.demo", 4096, 200, null)]
    [InlineData("alert", "com.example.demo", 4097, 413, "PayloadTooLarge")]
    [InlineData("voip", "com.example.demo.voip", 5120, 200, null)]
    [InlineData("voip", "com.example.demo.voip", 5121, 413, "PayloadTooLarge")]
    [InlineData("alert", "com.example.demo", 300_000, 413, "PayloadTooLarge")]
    public async Task Payload_Size_LimitOfItsType(string type, string topic, int bytes, int status, string? reason)
    {
        string head = """{"aps":{"alert":"a"},"fill":" """;
        string body = head + new string('x', bytes - head.Length - 2) + "\"}";
        Assert.Equal(bytes, Encoding.UTF8.GetByteCount(body));

        Answer answer = await new ApnsCaller(_sandbox) { Body = body }.As(type, topic, "10").SendAsync();

        Assert.Equal((status, reason), (answer.Status, answer.Reason));
    }

    [Theory]
    [InlineData("", false)]
    [InlineData("{", true)]
    [InlineData("""{"aps":{"alert":"\ud800"}}""", true)]
    [InlineData("[]", true)]
    [InlineData("{}", true)]
    [InlineData("""{"aps":"hello"}""", true)]
    public async Task Payload_Unusable_PayloadEmpty(string body, bool counted)
    {
        long before = _sandbox.Server.Violations[ViolationKind.UselessPayloads];

        Answer answer = await new ApnsCaller(_sandbox) { Body = body }.SendAsync();

        Assert.Equal((400, "PayloadEmpty"), (answer.Status, answer.Reason));
        Assert.Equal(counted ? 1 : 0, _sandbox.Server.Violations[ViolationKind.UselessPayloads] - before);
    }

    [Theory]
    [InlineData("background", """{"aps":{"alert":"a","content-available":1}}""")]
    [InlineData("background", """{"aps":{"sound":"a","content-available":1}}""")]
    [InlineData("background", """{"aps":{"badge":1,"content-available":1}}""")]
    [InlineData("background", """{"aps":{}}""")]
    [InlineData("background", """{"aps":{"content-available":"1"}}""")]
    [InlineData("alert", """{"aps":{"content-available":1}}""")]
    public async Task Payload_OfAnotherType_InvalidPushType(string type, string body)
    {
        Answer answer = await new ApnsCaller(_sandbox) { Body = body }.As(type, "com.example.demo", "5").SendAsync();

        Assert.Equal((400, "InvalidPushType"), (answer.Status, answer.Reason));
    }

    [Fact]
    public async Task Request_Http11_NoConnection()
    {
        using HttpMessageInvoker caller = _sandbox.NewCaller();
        using HttpRequestMessage request = new(HttpMethod.Post, new Uri(_sandbox.Server.ApnsAddress, "/3/device/ab"))
        {
            Version = new Version(1, 1),
            VersionPolicy = HttpVersionPolicy.RequestVersionExact,
        };
        using CancellationTokenSource timeout = new(SandboxUnderTest.Patience);

        await Assert.ThrowsAsync<HttpRequestException>(() => caller.SendAsync(request, timeout.Token));
    }
}
