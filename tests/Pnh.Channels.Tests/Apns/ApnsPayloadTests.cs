using System.Text;
using Pnh.Channels.Apns;
using Pnh.Channels.Tests.Http;
using Pnh.Core.Events;
using Pnh.TestKit;

namespace Pnh.Channels.Tests.Apns;

public sealed class ApnsPayloadTests
{
    private const string Tail = ""","pnh":{"id":"event-1","class":"message"},"pnh-id":"event-1"}""";

    private readonly FakeTimeProvider _time = new();

    [Fact]
    public void Encode_FullNotification_EveryMemberInItsPlace()
    {
        var notification = new Notification
        {
            Title = "T",
            Subtitle = "S",
            Body = "B",
            Sound = "default",
            Badge = 0,
            Category = "reply",
            Thread = "chat-7",
            Image = "https://example.com/i.png",
        };

        Assert.Equal(
            """{"aps":{"alert":{"title":"T","subtitle":"S","body":"B"},"sound":"default","category":"reply","thread-id":"chat-7","badge":0,"mutable-content":1},"pnh":{"id":"event-1","class":"message","image":"https://example.com/i.png"},"pnh-id":"event-1"}""",
            Encode(Sample.Event(_time, notification: notification)));
    }

    [Fact]
    public void Encode_NoNotification_Background() =>
        Assert.Equal("""{"aps":{"content-available":1}""" + Tail, Encode(Sample.Event(_time)));

    [Fact]
    public void Encode_Override_ApsByMemberOthersWhole()
    {
        var accepted = Sample.Event(
            _time,
            notification: new Notification { Title = "T", Body = "B", Sound = "default" },
            data: """{"a":1,"b":2}""",
            overrides: new() { ["apns"] = """{"aps":{"alert":{"title":"X"},"sound":null,"interruption-level":"critical"},"data":{"c":3},"own":[1]}""" });

        Assert.Equal(
            """{"aps":{"alert":{"title":"X"},"interruption-level":"critical"},"pnh":{"id":"event-1","class":"message"},"pnh-id":"event-1","data":{"c":3},"own":[1]}""",
            Encode(accepted));
    }

    [Theory]
    [InlineData("""{"aps":{"alert":"by override"}}""", "alert")]
    [InlineData("""{"aps":{"badge":2}}""", "alert")]
    [InlineData("""{"own":1}""", "background")]
    public void For_OverrideShowsSomething_PushTypeFollows(string json, string type)
    {
        var accepted = Sample.Event(_time, overrides: new() { ["apns"] = json });

        Assert.Equal(type, ApnsPush.For(accepted, "token").Type.Name);
        Assert.Equal(type == "background", Encode(accepted).Contains("content-available", StringComparison.Ordinal));
    }

    [Theory]
    [InlineData("[]")]
    [InlineData("""{"a":1,"a":2}""")]
    [InlineData("{")]
    public void Encode_BadOverride_Refused(string json)
    {
        var accepted = Sample.Event(_time, overrides: new() { ["apns"] = json });

        Assert.Equal("invalid-override", ApnsPush.For(accepted, "token").BodyFor(accepted, null).Refusal);
    }

    [Theory]
    [InlineData(null, """{"aps":{"\ud800":1}}""")]
    [InlineData(null, """{"\ud800":{}}""")]
    [InlineData(null, """{"own":"\ud800"}""")]
    [InlineData("""{"a":"\ud800"}""", null)]
    [InlineData("""{"\ud800":1}""", null)]
    public void Encode_HalfASurrogatePair_Refused(string? data, string? json)
    {
        var accepted = Sample.Event(_time, data: data, overrides: json is null ? null : new() { ["apns"] = json });

        Assert.Equal("invalid-text", ApnsPush.For(accepted, "token").BodyFor(accepted, null).Refusal);
    }

    [Theory]
    [InlineData(Interruption.Passive, null, "\"interruption-level\":\"passive\"")]
    [InlineData(Interruption.TimeSensitive, null, "\"interruption-level\":\"time-sensitive\"")]
    [InlineData(Interruption.Critical, null, "\"sound\":{\"critical\":1,\"name\":\"default\",\"volume\":1},\"interruption-level\":\"critical\"")]
    [InlineData(Interruption.Critical, 0.25, "\"sound\":{\"critical\":1,\"name\":\"default\",\"volume\":0.25},\"interruption-level\":\"critical\"")]
    public void Encode_Interruption_IsApplesLevel(Interruption interruption, double? volume, string members)
    {
        var accepted = Sample.Event(_time, notification: new Notification { Title = "T", Interruption = interruption, Volume = volume });

        Assert.Contains($$"""{"alert":{"title":"T"},{{members}}}""", Encode(accepted), StringComparison.Ordinal);
    }

    [Fact]
    public void Encode_RelevanceAndMutable_AreApplesMembersAndTheChannelIsNone()
    {
        var accepted = Sample.Event(_time, notification: new Notification { Title = "T", Sound = "s", Relevance = 0.5, IsMutable = true, Channel = "orders" });

        Assert.Contains("""{"alert":{"title":"T"},"sound":"s","relevance-score":0.5,"mutable-content":1}""", Encode(accepted), StringComparison.Ordinal);
    }

    [Fact]
    public void Encode_TextsOfTheAppAndALink_AreApplesMembers()
    {
        var accepted = Sample.Event(_time, notification: new Notification { TitleKey = "t", BodyKey = "b", BodyArgs = ["x", "y"], Link = "https://example.com/7" });

        var json = Encode(accepted);
        Assert.Contains("""{"alert":{"title-loc-key":"t","loc-key":"b","loc-args":["x","y"]}}""", json, StringComparison.Ordinal);
        Assert.Contains("\"pnh-link\":\"https://example.com/7\"", json, StringComparison.Ordinal);
    }

    [Theory]
    [InlineData(EventClass.Message, PushPriority.ByClass, "10")]
    [InlineData(EventClass.Message, PushPriority.Saving, "5")]
    [InlineData(EventClass.Bulk, PushPriority.ByClass, "5")]
    [InlineData(EventClass.Bulk, PushPriority.Now, "10")]
    public void For_Priority_IsApartFromTheClass(EventClass @class, PushPriority priority, string header)
    {
        var shown = Sample.Event(_time, @class, new Notification { Title = "T" }, priority: priority);

        Assert.Equal((header, "5"), (ApnsPush.For(shown, "token").Priority, ApnsPush.For(Sample.Event(_time, @class, priority: priority), "token").Priority));
    }

    [Fact]
    public void Encode_EmojiAndSpacesBeyondAscii_AreWrittenAsTheyAreAndTheDataStays()
    {
        var text = string.Concat(Enumerable.Repeat("\U0001F600\u00a0\u3000\u2028", 300));
        var accepted = Sample.Event(_time, notification: new Notification { Title = text }, data: """{"order":7}""");

        var json = Encode(accepted);
        Assert.Contains(text, json, StringComparison.Ordinal);
        Assert.Contains("\"order\":7", json, StringComparison.Ordinal);
    }

    [Fact]
    public void BodyFor_SameEventAndLanguage_EncodedOnce()
    {
        var texts = new Dictionary<string, LocalizedText> { ["de"] = new("Hallo", null, null) };
        var accepted = Sample.Event(_time, notification: new Notification { Title = "Hello", Locales = texts });
        var german = ApnsPush.For(accepted, "token").BodyFor(accepted, "de");

        Assert.Same(german, ApnsPush.For(accepted, "token").BodyFor(accepted, "de-CH"));
        Assert.NotSame(german, ApnsPush.For(accepted, "token").BodyFor(accepted, "fr"));
        Assert.Same(ApnsPush.For(accepted, "token").BodyFor(accepted, null), ApnsPush.For(accepted, "token").BodyFor(accepted, "fr"));
        Assert.NotSame(german, ApnsPush.For(accepted, "voipToken").BodyFor(accepted, "de"));
    }

    private static string Encode(Event accepted) =>
        Encoding.UTF8.GetString(ApnsPush.For(accepted, "token").BodyFor(accepted, null).Parts.Head);
}
