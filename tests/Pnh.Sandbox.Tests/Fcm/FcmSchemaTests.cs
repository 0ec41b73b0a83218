namespace Pnh.Sandbox.Tests.Fcm;

public sealed class FcmSchemaTests(SandboxFixture fixture) : IClassFixture<SandboxFixture>
{
    private readonly FcmCaller _fcm = new(fixture.Sandbox);

    [Fact]
    public async Task Message_EveryFieldInSnakeCase_Accepted()
    {
        Answer answer = await _fcm.SendAsync("""
            {"validate_only":false,"message":{"fid":"fid-1","data":{"a":"b"},"notification":{"title":"t","body":"b","image":"https://e.org/i.png"},
             "fcm_options":{"analytics_label":"label_1"},
             "android":{"collapse_key":"k","priority":"HIGH","ttl":"3.5s","restricted_package_name":"p","data":{"c":"d"},"direct_boot_ok":true,
               "bandwidth_constrained_ok":true,"restricted_satellite_ok":false,"fcm_options":{"analytics_label":"x"},
               "notification":{"title":"t","channel_id":"c","tag":"t","color":"#a1B2c3","body_loc_args":["1"],"notification_count":"3","sticky":false,
                 "event_time":"2026-01-01T00:00:00Z","notification_priority":"PRIORITY_MAX","visibility":"SECRET","proxy":"DENY",
                 "vibrate_timings":["0.1s","2s"],"light_settings":{"color":{"red":0.5,"alpha":1},"light_on_duration":"1s","light_off_duration":"1s"}}},
             "apns":{"headers":{"apns-priority":"10"},"payload":{"aps":{"badge":1}},"fcm_options":{"image":"i"},"live_activity_token":"t"},
             "webpush":{"headers":{"TTL":"10"},"data":{"e":"f"},"notification":{"title":"t","any":[1]},"fcm_options":{"link":"https://e.org"}}}}
            """);

        Assert.True(answer.Status == 200, answer.Body);
    }

    [Fact]
    public async Task Message_CamelCase_Accepted()
    {
        Answer answer = await _fcm.SendAsync("""
            {"validateOnly":true,"message":{"token":"t","android":{"collapseKey":"k","directBootOk":true,"notification":{"channelId":"c",
             "titleLocArgs":["a"],"defaultSound":true,"lightSettings":{"lightOnDuration":"1s"}}},"apns":{"fcmOptions":{"analyticsLabel":"a"}}}}
            """);

        Assert.Equal(200, answer.Status);
    }

    [Theory]
    [InlineData("""{"massage":{}}""", "")]
    [InlineData("""{"message":{"token":"t","colour":1}}""", "message")]
    [InlineData("""{"message":{"token":"t","android":{"notification":{"titel":"x"}}}}""", "message.android.notification")]
    [InlineData("""{"message":{"token":5}}""", "message.token")]
    [InlineData("""{"message":{"token":"t","data":{"a":"x","n":1}}}""", "message.data[1].value")]
    [InlineData("""{"message":{"token":"t","data":{"n":null}}}""", "message.data[0].value")]
    [InlineData("""{"message":{"token":"t","data":{"n":{"deep":"x"}}}}""", "message.data[0].value")]
    [InlineData("""{"message":{"token":"t","data":[]}}""", "message.data")]
    [InlineData("""{"message":{"token":"t","android":{"priority":"high"}}}""", "message.android.priority")]
    [InlineData("""{"message":{"token":"t","android":{"ttl":30}}}""", "message.android.ttl")]
    [InlineData("""{"message":{"token":"t","android":{"ttl":"30"}}}""", "message.android.ttl")]
    [InlineData("""{"message":{"token":"t","android":{"ttl":"1.0000000001s"}}}""", "message.android.ttl")]
    [InlineData("""{"message":{"token":"t","android":{"direct_boot_ok":"true"}}}""", "message.android.direct_boot_ok")]
    [InlineData("""{"message":{"token":"t","android":{"notification":{"notification_count":1.5}}}}""", "message.android.notification.notification_count")]
    [InlineData("""{"message":{"token":"t","android":{"notification":{"event_time":"noon"}}}}""", "message.android.notification.event_time")]
    [InlineData("""{"message":{"token":"t","android":{"notification":{"body_loc_args":["a",1]}}}}""", "message.android.notification.body_loc_args[1]")]
    [InlineData("""{"message":{"token":"t","apns":{"headers":{"apns-priority":10}}}}""", "message.apns.headers[0].value")]
    [InlineData("""{"message":{"token":"t","apns":{"payload":"{}"}}}""", "message.apns.payload")]
    [InlineData("""{"message":{"token":"t","android":{"collapse_key":"a","collapseKey":"b"}}}""", "message.android.collapse_key")]
    [InlineData("""{"message":"hello"}""", "message")]
    [InlineData("""{"message":{"token":"t"}""", "")]
    [InlineData("""{"message":{"token":"t","data":{"a":"\udfff"}}}""", "")]
    [InlineData("[]", "")]
    public async Task Body_NotOfTheSchema_FieldViolationWithoutFcmError(string body, string field)
    {
        Answer answer = await _fcm.SendAsync(body);

        Assert.Equal((400, "INVALID_ARGUMENT"), (answer.Status, answer.Error.GetProperty("status").GetString()));
        Assert.Equal([field], answer.ViolatedFields);
        Assert.Null(answer.ErrorCode);
    }

    [Fact]
    public async Task Body_SeveralMistakes_AllAtOnce()
    {
        Answer answer = await _fcm.SendAsync("""{"message":{"token":1,"data":{"a":1},"android":{"ttl":"x"}}}""");

        Assert.Equal(["message.token", "message.data[0].value", "message.android.ttl"], answer.ViolatedFields);
    }

    [Theory]
    [InlineData("""{}""", "message")]
    [InlineData("""{"message":{}}""", "message")]
    [InlineData("""{"message":{"token":"a","fid":"b"}}""", "message")]
    [InlineData("""{"message":{"token":"a","topic":"b"}}""", "message")]
    [InlineData("""{"message":{"token":""}}""", "message.token")]
    [InlineData("""{"message":{"token":"a b"}}""", "message.token")]
    [InlineData("""{"message":{"fid":"ä"}}""", "message.fid")]
    [InlineData("""{"message":{"topic":"/topics/a b"}}""", "message.topic")]
    [InlineData("""{"message":{"condition":"weather"}}""", "message.condition")]
    [InlineData("""{"message":{"token":"a","data":{"from":"x"}}}""", "message.data")]
    [InlineData("""{"message":{"token":"a","data":{"message_type":"x"}}}""", "message.data")]
    [InlineData("""{"message":{"token":"a","data":{"google.x":"x"}}}""", "message.data")]
    [InlineData("""{"message":{"token":"a","android":{"data":{"gcm_x":"x"}}}}""", "message.android.data")]
    [InlineData("""{"message":{"token":"a","android":{"ttl":"-1s"}}}""", "message.android.ttl")]
    [InlineData("""{"message":{"token":"a","android":{"ttl":"2419201s"}}}""", "message.android.ttl")]
    [InlineData("""{"message":{"token":"a","android":{"notification":{"color":"red"}}}}""", "message.android.notification.color")]
    [InlineData("""{"message":{"token":"a","fcm_options":{"analytics_label":"a b"}}}""", "message.fcm_options.analytics_label")]
    [InlineData("""{"message":{"token":"a","webpush":{"fcm_options":{"link":"http://e.org"}}}}""", "message.webpush.fcm_options.link")]
    public async Task Message_AgainstARule_FcmErrorWithItsField(string body, string field)
    {
        Answer answer = await _fcm.SendAsync(body);

        Assert.Equal((400, "INVALID_ARGUMENT"), (answer.Status, answer.ErrorCode));
        Assert.Equal([field], answer.ViolatedFields);
    }

    [Theory]
    [InlineData("token", 4096, true)]
    [InlineData("token", 4097, false)]
    [InlineData("topic", 2048, true)]
    [InlineData("topic", 2049, false)]
    public async Task Data_Size_KeysAndValues(string target, int bytes, bool accepted)
    {
        Answer answer = await _fcm.SendAsync($$$"""{"message":{"{{{target}}}":"a","data":{"key":"{{{new string('x', bytes - 3)}}}"} }}""");

        Assert.Equal(accepted ? 200 : 400, answer.Status);
        Assert.Equal(accepted ? null : "message.data", accepted ? null : answer.ViolatedFields.Single());
    }

    [Theory]
    [InlineData("0s")]
    [InlineData("2419200s")]
    [InlineData("0.000000001s")]
    public async Task Ttl_InRange_Accepted(string ttl)
    {
        Answer answer = await _fcm.SendToAsync("a", $$""" "android":{"ttl":"{{ttl}}"} """);

        Assert.Equal(200, answer.Status);
    }
}
