using Pnh.Channels.Fcm;
using Pnh.Channels.Tests.Http;
using Pnh.TestKit;

namespace Pnh.Channels.Tests.Fcm;

public sealed class FcmPushTests
{
    [Theory]
    [InlineData("""{"\ud800":1}""")]
    [InlineData("""{"data":{"k":"\ud800"}}""")]
    [InlineData("""{"notification":{"title":"\ud800"}}""")]
    [InlineData("""{"webpush":{"\ud800":1}}""")]
    public void BodyFor_HalfASurrogatePair_Refused(string json)
    {
        var accepted = Sample.Event(new FakeTimeProvider(), overrides: new() { ["fcm"] = json });

        Assert.Equal("invalid-text", FcmPush.BodyFor(accepted, FcmAddress.Token, null).Refusal);
    }
}
