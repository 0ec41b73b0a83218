using System.Text;
using Pnh.Core.Events;

namespace Pnh.Core.Tests.Events;

public sealed class EventReaderErrorTests
{
    [Fact]
    public void Read_ManyErrors_ReportsAllAtOnce()
    {
        const string json = """
            {"id":"no spaces","class":"urgent","ttl":-1,"collapseKey":"","ack":{"within":"soon","at":1},"zzz":{"deep":[1]},
             "except":{"users":"eve","devices":["ok",7],"who":1},"channels":["pigeon"],"apns":[],"data":1,"data":2,
             "notification":{"title":5,"badge":-1,"image":"http://plain","huh":0,"locales":{"de":{"text":"x"},"d":{}}}}
            """;
        Assert.Equal(
            [
                "/id invalid-id", "/class unknown-value", "/ttl out-of-range", "/collapseKey too-short", "/ack/within wrong-type",
                "/ack/at unknown-member", "/zzz unknown-member", "/except/users wrong-type", "/except/devices/1 wrong-type",
                "/except/who unknown-member", "/channels unknown-value", "/apns wrong-type", "/data duplicate-member",
                "/notification/title wrong-type", "/notification/badge out-of-range", "/notification/image invalid-address",
                "/notification/huh unknown-member", "/notification/locales/de/text unknown-member", "/notification/locales/d unknown-member",
                "/to required",
            ],
            Bodies.Faults(json));
    }

    [Theory]
    [InlineData("""{"to":5}""", "/to wrong-type")]
    [InlineData("""{"to":{"user":"a"},"priority":"high"}""", "/priority unknown-value")]
    [InlineData("""{"to":{"user":"a"},"priority":1}""", "/priority wrong-type")]
    [InlineData("""{"to":{"user":"a"},"priority":"now","priority":"now"}""", "/priority duplicate-member")]
    [InlineData("""{"to":{"user":"a"},"notification":{"interruption":"loud","relevance":1.5,"mutable":"yes","channel":7}}""", "/notification/interruption unknown-value,/notification/relevance out-of-range,/notification/mutable wrong-type,/notification/channel wrong-type")]
    [InlineData("""{"to":{"user":"a"},"notification":{"interruption":"active","volume":0.5}}""", "/notification/volume not-allowed")]
    [InlineData("""{"to":{"user":"a"},"notification":{"titleArgs":["x"],"bodyArgs":["y"]}}""", "/notification/titleArgs not-allowed,/notification/bodyArgs not-allowed")]
    [InlineData("""{"to":{"user":"a"},"notification":{"titleKey":"k","titleArgs":["x",1],"bodyKey":"k","bodyArgs":"y"}}""", "/notification/titleArgs wrong-type,/notification/bodyArgs wrong-type")]
    [InlineData("""{"to":{"user":"a"},"notification":{"link":"javascript:alert(1)"}}""", "/notification/link invalid-address")]
    [InlineData("""{"to":{"user":"a"},"notification":{"link":"data:text/html,x"}}""", "/notification/link invalid-address")]
    [InlineData("""{"to":{"user":"a"},"notification":{"link":"file:///etc/passwd"}}""", "/notification/link invalid-address")]
    [InlineData("""{"to":{"user":"a"},"notification":{"link":"http://example.com/"}}""", "/notification/link invalid-address")]
    [InlineData("""{"to":{"user":"a"},"notification":{"link":"myapp://x"}}""", "/notification/link invalid-address")]
    [InlineData("""{"to":{"user":"a"},"notification":{"link":"/orders/7"}}""", "/notification/link invalid-address")]
    [InlineData("""{"to":{"user":"a"},"notification":{"interruption":"critical","volume":2}}""", "/notification/volume out-of-range")]
    [InlineData("""{"to":{}}""", "/to exactly-one")]
    [InlineData("""{"to":{"user":"a","topic":"t"}}""", "/to exactly-one")]
    [InlineData("""{"to":{"user":"a","user":"b"}}""", "/to/user duplicate-member")]
    [InlineData("""{"to":{"user":""}}""", "/to/user invalid-id")]
    [InlineData("""{"to":{"user":".."}}""", "/to/user invalid-id")]
    [InlineData("""{"to":{"user":"\ud800"}}""", "/to/user invalid-text")]
    [InlineData("""{"to":{"users":[]}}""", "/to/users too-few")]
    [InlineData("""{"to":{"users":"a"}}""", "/to/users wrong-type")]
    [InlineData("""{"to":{"users":["a",".",{"b":1}]}}""", "/to/users/1 invalid-id,/to/users/2 wrong-type")]
    [InlineData("""{"to":{"device":{"user":"a"}}}""", "/to/device/device required")]
    [InlineData("""{"to":{"device":{}}}""", "/to/device/user required,/to/device/device required")]
    [InlineData("""{"to":{"device":{"user":"a","user":"b","device":"d"}}}""", "/to/device/user duplicate-member")]
    [InlineData("""{"to":{"user":"a"},"to":{"user":"b"}}""", "/to duplicate-member")]
    [InlineData("""{"to":{"user":"a"},"apns":{},"apns":{}}""", "/apns duplicate-member")]
    [InlineData("""{"to":{"user":"a"},"websocket":{}}""", "/websocket unknown-member")]
    [InlineData("""{"to":{"user":"a"},"channels":[]}""", "/channels too-few")]
    [InlineData("""{"to":{"user":"a"},"channels":null}""", "/channels wrong-type")]
    [InlineData("""{"to":{"user":"a"},"except":{"users":["b"],"users":[]}}""", "/except/users duplicate-member")]
    [InlineData("""{"to":{"user":"a"},"ack":{"within":1,"within":2}}""", "/ack/within duplicate-member")]
    [InlineData("""{"to":{"user":"a"},"ack":{"within":3601}}""", "/ack/within out-of-range")]
    [InlineData("""{"to":{"user":"a"},"ttl":2419200.001}""", "/ttl out-of-range")]
    [InlineData("""{"to":{"user":"a"},"ttl":-0.001}""", "/ttl out-of-range")]
    [InlineData("""{"to":{"user":"a"},"ttl":"60"}""", "/ttl wrong-type")]
    [InlineData("""{"to":{"user":"a"},"ttl":1e999}""", "/ttl wrong-type")]
    [InlineData("""{"to":{"user":"a"},"id":null}""", "/id wrong-type")]
    [InlineData("""{"to":{"user":"a"},"a/b~c":1}""", "/a~1b~0c unknown-member")]
    [InlineData("""{"to":{"user":"a"},"notification":{"locales":{"d/e":{"x":1}}}}""", "/notification/locales/d~1e/x unknown-member")]
    [InlineData("""{"to":{"user":"a"},"notification":{"locales":{"de":{},"DE":{}}}}""", "/notification/locales/DE duplicate-member")]
    [InlineData("""{"to":{"user":"a"},"notification":{"locales":{"de":{"body":"a","body":"b"}}}}""", "/notification/locales/de/body duplicate-member")]
    [InlineData("""{"to":{"user":"a"},"notification":{"badge":1.5}}""", "/notification/badge wrong-type")]
    [InlineData("""{"to":{"user":"a"},"data":{"a":"\ud800"}}""", "/data invalid-text")]
    [InlineData("""{"to":{"user":"a"},"data":["x",{"\uDC00":1}]}""", "/data invalid-text")]
    [InlineData("""{"to":{"user":"a"},"data":"\ud83dx"}""", "/data invalid-text")]
    [InlineData("""{"to":{"user":"a"},"apns":{"aps":{"alert":"\ud800"}},"fcm":{"\ud800":1}}""", "/apns invalid-text,/fcm invalid-text")]
    [InlineData("""[]""", " wrong-type")]
    [InlineData("""  "text" """, " wrong-type")]
    [InlineData("""{"to":{"user":"a"}} x""", " invalid-json")]
    [InlineData("""{"to":{"user":"a"}}{}""", " invalid-json")]
    [InlineData("""{"to":{"user":"a"},}""", " invalid-json")]
    [InlineData("", " invalid-json")]
    public void Read_OneFault_NamesItExactly(string json, string faults) => Assert.Equal(faults, string.Join(',', Bodies.Faults(json)));

    [Theory]
    [InlineData("")]
    [InlineData("notification")]
    public void Read_MemberNamedByHalfASurrogatePair_IsUnknown(string inside)
    {
        const string odd = """ "\ud800x":1 """;
        var json = inside.Length == 0 ? $$"""{"to":{"user":"a"},{{odd}}}""" : $$$"""{"to":{"user":"a"},"{{{inside}}}":{ {{{odd}}} }}""";
        Assert.EndsWith(" unknown-member", Assert.Single(Bodies.Faults(json)), StringComparison.Ordinal);
    }

    [Fact]
    public void Read_RawTextThatOnlyLooksHalf_IsTaken()
    {
        const string data = """{"pair":"\ud83d\uDE00","text":"\\ud800","\u00e9":["\ud83d\ude00"]}""";
        Assert.Equal(data, Encoding.UTF8.GetString(Bodies.Valid($$"""{"to":{"user":"a"},"data":{{data}}}""").Data.Span));
    }

    [Fact]
    public void Read_LongUnknownName_IsCutBetweenCharacters()
    {
        var (_, errors) = Bodies.Read($$"""{"to":{"user":"a"},"{{new string('x', 63)}}😀tail":1}""");
        Assert.Equal("/" + new string('x', 63), Assert.Single(errors).Pointer);
    }

    [Fact]
    public void Read_BadUtf8InData_IsRefused()
    {
        byte[] body = [.. """{"to":{"user":"a"},"data":"x"""u8, 0xC3, 0x28, .. "\"}"u8];
        Assert.Equal("invalid-text", Assert.Single(Bodies.Read(body).Errors).Code);
    }

    [Fact]
    public void Read_ListsAtTheirBounds_OneMoreIsTooMany()
    {
        Assert.Equal(1_000, Bodies.Valid(Users(1_000)).To.Users.Count);
        Assert.Equal(["/to/users too-many"], Bodies.Faults(Users(1_001)));
        Assert.Equal(100, Bodies.Valid(Except(100)).Except!.Users.Count);
        Assert.Equal(["/except/users too-many"], Bodies.Faults(Except(101)));

        static string List(int count) => string.Join(',', Enumerable.Range(0, count).Select(i => $"\"u{i}\""));
        static string Users(int count) => $$$"""{"to":{"users":[{{{List(count)}}}]}}""";
        static string Except(int count) => $$$"""{"to":{"user":"a"},"except":{"users":[{{{List(count)}}}]}}""";
    }

    [Fact]
    public void Read_Locales_AtMostAHundred()
    {
        static string Body(int count) => """{"to":{"user":"a"},"notification":{"locales":{"""
            + string.Join(',', Enumerable.Range(0, count).Select(i => $"\"l{i}\":{{}}")) + "}}}";
        Assert.Equal(100, Bodies.Valid(Body(100)).Notification!.Locales!.Count);
        Assert.Equal(["/notification/locales too-many"], Bodies.Faults(Body(101)));
    }

    [Theory]
    [InlineData(99)]
    [InlineData(100)]
    public void Read_AHundredErrors_AreAllTold(int count)
    {
        var faults = Bodies.Faults($$"""{"to":{"user":"a"},{{Unknown(count)}}}""");
        Assert.Equal(count, faults.Count);
        Assert.All(faults, static fault => Assert.Equal("/x unknown-member", fault));
    }

    [Theory]
    [InlineData("", "")]
    [InlineData("\"notification\":{", "}")]
    [InlineData("\"notification\":{\"locales\":{\"de\":{", "}}}")]
    public void Read_MoreThanAHundredErrors_TellsThatThereAreMore(string open, string close)
    {
        // Neither its wrong class nor that it is for nobody is told any more.
        var faults = Bodies.Faults($$"""{ {{open}}{{Unknown(10_000)}}{{close}},"class":7}""");
        Assert.Equal(101, faults.Count);
        Assert.All(faults[..100], static fault => Assert.EndsWith("/x unknown-member", fault, StringComparison.Ordinal));
        Assert.Equal(" too-many-errors", faults[100]);
    }

    [Fact]
    public void Read_ListWrongPastTheBound_IsNotCalledEmpty()
    {
        var faults = Bodies.Faults($$"""{ {{Unknown(100)}},"to":{"users":[1]} }""");
        Assert.Equal((101, " too-many-errors"), (faults.Count, faults[^1]));
    }

    [Fact]
    public void Read_MoreThanAHundredErrors_CostTheirNamesAndNoPointers()
    {
        var (few, many) = (Body(101), Body(5_000));
        Assert.InRange(Least(many) - Least(few), 0, ((5_000 - 101) * 24) + 1_000);

        static byte[] Body(int count) => Encoding.UTF8.GetBytes($$"""{ {{Unknown(count)}} }""");

        // A collection in between empties the pool of arrays, and the next reader makes its own.
        static long Least(byte[] body) => Enumerable.Range(0, 5).Min(_ => Allocated(body));

        static long Allocated(byte[] body)
        {
            var before = GC.GetAllocatedBytesForCurrentThread();
            Bodies.Read(body);
            return GC.GetAllocatedBytesForCurrentThread() - before;
        }
    }

    private static string Unknown(int count) => string.Join(',', Enumerable.Repeat("\"x\":1", count));

    [Theory]
    [InlineData(15, true)]
    [InlineData(16, false)]
    public void Read_Depth_AtMostSixteen(int arrays, bool isValid)
    {
        // The body itself is the first level.
        var (read, errors) = Bodies.Read($$"""{"to":{"user":"a"},"data":{{new string('[', arrays)}}{{new string(']', arrays)}}}""");
        Assert.Equal(isValid, read is not null);
        Assert.Equal(isValid ? [] : ["invalid-json"], errors.Select(e => e.Code));
    }

    [Theory]
    [InlineData(64, true)]
    [InlineData(65, false)]
    public void Read_CollapseKey_IsBoundInBytes(int bytes, bool isValid)
    {
        var key = string.Concat(Enumerable.Repeat("é", bytes / 2)) + new string('k', bytes % 2);
        Assert.Equal(bytes, Encoding.UTF8.GetByteCount(key));
        var (read, errors) = Bodies.Read($$"""{"to":{"user":"a"},"collapseKey":"{{key}}"}""");
        Assert.Equal(isValid, read is not null);
        Assert.Equal(isValid ? [] : ["/collapseKey too-long"], errors.Select(e => $"{e.Pointer} {e.Code}"));
    }

    [Fact]
    public void Read_OverrideThatItsChannelRefuses_ErrorsPointIntoIt()
    {
        List<(string Json, EventClass Class)> asked = [];
        var reader = new EventReader(ClassPolicies.Default, [("apns", (json, @class, found) =>
        {
            asked.Add((Encoding.UTF8.GetString(json.Span), @class));
            found.Add(new FieldError("/aps", "wrong-type", "x"));
            found.Add(new FieldError("", "too-long", "x"));
        })]);
        var body = """{"apns":{"aps":null},"to":{"user":"a"},"class":"call","what":1}"""u8.ToArray();
        List<FieldError> errors = [];

        Assert.Null(reader.Read(body, new EventOrigin("demo", DateTimeOffset.UnixEpoch, 0), errors));

        Assert.Equal([("""{"aps":null}""", EventClass.Call)], asked);
        Assert.Equal(["/what unknown-member", "/apns/aps wrong-type", "/apns too-long"], errors.Select(static error => $"{error.Pointer} {error.Code}"));
    }

    [Fact]
    public void Read_EventThatWasAcceptedOnce_IsReadWhateverItsOverride()
    {
        var reader = new EventReader(ClassPolicies.Default, [("apns", static (_, _, found) => found.Add(new FieldError("", "too-long", "x")))]);
        var origin = new EventOrigin("demo", DateTimeOffset.UnixEpoch, 0, Id: "e-1", ExpiresAt: DateTimeOffset.UnixEpoch.AddDays(1));
        Assert.NotNull(reader.Read("""{"to":{"user":"a"},"apns":{}}"""u8.ToArray(), origin, []));
    }

    [Fact]
    public void Read_ErrorsOfEarlierBodies_DoNotCount()
    {
        var reader = new EventReader(ClassPolicies.Default, ["websocket"]);
        List<FieldError> errors = [new("/x", "old", "of the line before")];
        Assert.NotNull(reader.Read("""{"to":{"user":"a"}}"""u8.ToArray(), new("demo", Bodies.Now, 0), errors));
        Assert.Single(errors);
    }
}
