using System.Text;
using Pnh.Channels.Tests.Apns;
using Pnh.Channels.Tests.Fcm;
using Pnh.Channels.Tests.WebPush;
using Pnh.Core.Events;
using Pnh.Core.Push;

namespace Pnh.Channels.Tests.Http;

/// <summary>What of an override is refused when its event is taken in, and what is left to the provider.</summary>
public sealed class OverrideCheckTests
{
    private static readonly string Large = new('x', 4100);

    [Theory]
    [InlineData("""{"aps":{"alert":"a","new-key":1},"own":[1,{"b":null}],"pnh-id":null}""")]
    [InlineData("""{}""")]
    [InlineData("""{"aps":null}""", "/aps wrong-type")]
    [InlineData("""{"aps":[1]}""", "/aps wrong-type")]
    [InlineData("""{"own":1,"own":2}""", " duplicate-member")]
    [InlineData("""{"aps":{"a":{"b":1,"b":2}}}""", " duplicate-member")]
    [InlineData("""{"own":"LARGE"}""", " too-long")]
    [InlineData("""{"aps":null,"own":"LARGE"}""", "/aps wrong-type", " too-long")]
    public async Task Apns_ByJson_SurelyRefused(string json, params string[] expected)
    {
        await using var apns = await ApnsFixture.StartAsync((_, _) => new Reply(200));
        Assert.Equal(expected, Check(apns.Channel, json));
    }

    [Theory]
    [InlineData("apns", 1_010, true)]
    [InlineData("apns", 1_020, false)]
    [InlineData("fcm", 1_010, true)]
    [InlineData("fcm", 1_030, false)]
    [InlineData("webpush", 980, true)]
    [InlineData("webpush", 1_000, false)]
    public async Task Override_OfEmoji_IsCountedInTheBytesThatItHas(string channel, int emoji, bool isFine)
    {
        await using var apns = await ApnsFixture.StartAsync((_, _) => new Reply(200));
        await using var fcm = await FcmFixture.StartAsync((_, _) => FcmFixture.Ok());
        await using var push = await WebPushFixture.StartAsync();
        var text = string.Concat(Enumerable.Repeat("\U0001F600", emoji));

        var (of, json) = channel switch
        {
            "apns" => (apns.Channel, $$$"""{"aps":{"alert":"{{{text}}}"}}"""),
            "fcm" => (fcm.Channel, $$$"""{"data":{"a":"{{{text}}}"}}"""),
            _ => (push.Channel, $$"""{"text":"{{text}}"}"""),
        };

        Assert.Equal(isFine ? [] : [" too-long"], Check(of, json));
    }

    [Theory]
    [InlineData(EventClass.Call, 5000, true)]
    [InlineData(EventClass.Call, 5200, false)]
    [InlineData(EventClass.Message, 4000, true)]
    [InlineData(EventClass.Message, 4200, false)]
    public async Task Apns_BySize_ACallMayBeLonger(EventClass @class, int characters, bool isFine)
    {
        await using var apns = await ApnsFixture.StartAsync((_, _) => new Reply(200));
        Assert.Equal(isFine ? [] : [" too-long"], Check(apns.Channel, $$"""{ "own" : "{{new string('x', characters)}}", "gone" : null }""", @class));
    }

    [Theory]
    [InlineData("""{"android":{"collapseKey":"k","direct_boot_ok":true,"notification":{"channelId":"c"}},"fcmOptions":{"analyticsLabel":"l"},"apns":{"payload":{"aps":{"x":1},"n":2}}}""")]
    [InlineData("""{"webpush":{"headers":{"Urgency":"low"},"notification":{"any":[1]},"data":{"a":"b"},"fcm_options":{"link":"https://example.com"}},"name":"n"}""")]
    [InlineData("""{"data":{"n":null},"android":null,"unknown":null}""")]
    [InlineData("""{"andriod":{}}""", "/andriod unknown-member")]
    [InlineData("""{"android":{"notification":{"chanel":"x"},"ttl":"3s","extra":1}}""", "/android/notification/chanel unknown-member", "/android/extra unknown-member")]
    [InlineData("""{"data":{"n":1,"t":true,"o":{},"s":"ok"}}""", "/data/n wrong-type", "/data/t wrong-type", "/data/o wrong-type")]
    [InlineData("""{"apns":{"headers":{"apns-priority":5}},"android":{"data":{"n":1}}}""", "/apns/headers/apns-priority wrong-type", "/android/data/n wrong-type")]
    [InlineData("""{"android":5,"notification":"x","data":[]}""", "/android wrong-type", "/notification wrong-type", "/data wrong-type")]
    [InlineData("""{"data":{"from":"x","google.a":"y","a/b~":1}}""", "/data/a~1b~0 wrong-type", "/data/from invalid-value", "/data/google.a invalid-value")]
    [InlineData("""{"android":{"collapseKey":"k","collapse_key":"l"},"fcm_options":{},"fcmOptions":{}}""", "/android/collapse_key duplicate-member", "/fcmOptions duplicate-member")]
    [InlineData("""{"android":{"notification":{"channelId":"a","channel_id":"b"}}}""", "/android/notification/channel_id duplicate-member")]
    [InlineData("""{"android":{"data":{"from":"x"}},"webpush":{"data":{"gcm.n":"y"}}}""", "/android/data/from invalid-value", "/webpush/data/gcm.n invalid-value")]
    [InlineData("""{"android":{"notification":{"lightSettings":{"lightOnDuration":"1s","blink":1}}}}""", "/android/notification/lightSettings/blink unknown-member")]
    [InlineData("""{"data":{"collapseKey":"a","collapse_key":"b"},"apns":{"payload":{"fcmOptions":1,"fcm_options":2}},"webpush":{"notification":{"requireInteraction":1,"require_interaction":2}}}""")]
    [InlineData("""{"token":"x","topic":"y"}""", "/token unknown-member", "/topic unknown-member")]
    [InlineData("""{"data":{"a":"LARGE"}}""", " too-long")]
    [InlineData("""{"android":{"a":1,"a":1}}""", " duplicate-member")]
    public async Task Fcm_ByJson_SurelyRefused(string json, params string[] expected)
    {
        await using var fcm = await FcmFixture.StartAsync((_, _) => FcmFixture.Ok());
        Assert.Equal(expected, Check(fcm.Channel, json));
    }

    [Fact]
    public async Task Fcm_ManyErrors_BoundedAndQuick()
    {
        await using var fcm = await FcmFixture.StartAsync((_, _) => FcmFixture.Ok());
        var many = string.Join(',', Enumerable.Range(0, 5000).Select(static n => $"\"m{n}\":1"));
        Assert.InRange(Check(fcm.Channel, $"{{{many}}}").Length, 100, Limits.FieldErrors + 1);
    }

    [Theory]
    [InlineData("""{"any":[1,{"a":null}],"data":{"n":1}}""")]
    [InlineData("""{"any":"LARGE"}""", " too-long")]
    [InlineData("""{"a":1,"a":2}""", " duplicate-member")]
    public async Task WebPush_ByJson_SurelyRefused(string json, params string[] expected)
    {
        await using var push = await WebPushFixture.StartAsync();
        Assert.Equal(expected, Check(push.Channel, json));
    }

    private static string[] Check(IPushChannel channel, string json, EventClass @class = EventClass.Message)
    {
        List<FieldError> errors = [];
        channel.CheckOverride(Encoding.UTF8.GetBytes(json.Replace("LARGE", Large, StringComparison.Ordinal)), @class, errors);
        return [.. errors.Select(static error => $"{error.Pointer} {error.Code}")];
    }
}
