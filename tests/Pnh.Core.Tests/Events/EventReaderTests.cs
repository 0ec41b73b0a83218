using System.Text;
using Pnh.Core.Events;

namespace Pnh.Core.Tests.Events;

public sealed class EventReaderTests
{
    [Fact]
    public void Read_EveryMember_IsTaken()
    {
        var read = Bodies.Valid(Bodies.Full);

        Assert.Equal(("demo", "01J:ev_1.a~b@c-d", true), (read.App, read.Id, read.IdGiven));
        Assert.Equal((TargetKind.User, "ada"), (read.To.Kind, Assert.Single(read.To.Users)));
        Assert.Equal(EventClass.Call, read.Class);
        Assert.Equal(Bodies.Now + TimeSpan.FromSeconds(90.5), read.ExpiresAt);
        Assert.Equal((Bodies.Now, 42L, "00-trace"), (read.AcceptedAt, read.AcceptedTimestamp, read.TraceParent));
        Assert.Equal("chat-7", read.CollapseKey);
        Assert.Equal(TimeSpan.FromSeconds(1.5), read.AckWithin);
        Assert.Equal(["eve"], read.Except!.Users);
        Assert.Equal(["d-9"], read.Except.Devices);
        Assert.Equal(["s-1", "s-2"], read.Except.Sessions);
        Assert.Equal(["websocket", "apns"], read.Channels);
        var shown = read.Notification!;
        Assert.Equal(("Grace", "Hello", "sub", "default", 3), (shown.Title, shown.Body, shown.Subtitle, shown.Sound, shown.Badge));
        Assert.Equal(("https://example.com/a.png", "cat", "th"), (shown.Image, shown.Category, shown.Thread));
        Assert.Equal(new LocalizedText("T", "S", "Hallo"), shown.Locales!["de"]);
        Assert.Equal("Olá", shown.Locales["pt-br"].Body);
        Assert.Equal(["apns", "fcm"], read.Overrides!.Keys.Order());
    }

    [Fact]
    public void Read_DataAndOverrides_AreKeptByteForByte()
    {
        var read = Bodies.Valid(Bodies.Full);
        Assert.Equal("""{"any" : [1, 2.50, "x\u00e9", null] }""", Encoding.UTF8.GetString(read.Data.Span));
        Assert.Equal("""{"aps":{"mutable-content":1}}""", Encoding.UTF8.GetString(read.Overrides!["apns"].Span));
        Assert.Equal(Bodies.Full, Encoding.UTF8.GetString(read.Body.Span));
    }

    [Theory]
    [InlineData("null")]
    [InlineData("\"a\\\"b\"")]
    [InlineData("-1.50e+3")]
    [InlineData("[ ]")]
    [InlineData("true")]
    public void Read_DataOfAnyKind_IsKept(string data) =>
        Assert.Equal(data, Encoding.UTF8.GetString(Bodies.Valid($$"""{"to":{"user":"a"},"data": {{data}} }""").Data.Span));

    [Fact]
    public void Read_OnlyTarget_HasTheDefaults()
    {
        var read = Bodies.Valid("""{"to":{"user":"ada"}}""");
        Assert.Equal(EventClass.Message, read.Class);
        Assert.Equal(Bodies.Now + TimeSpan.FromHours(24), read.ExpiresAt);
        Assert.False(read.IdGiven);
        Assert.Equal(7, Guid.Parse(read.Id).Version);
        Assert.True(read.Data.IsEmpty);
        Assert.Null(read.Except);
        Assert.Null(read.Channels);
    }

    [Theory]
    [InlineData("call", 30)]
    [InlineData("message", 86_400)]
    [InlineData("bulk", 21_600)]
    [InlineData("transient", 10)]
    public void Read_NoTtl_TakesTheClasses(string name, int seconds) => Assert.Equal(
        Bodies.Now + TimeSpan.FromSeconds(seconds), Bodies.Valid($$"""{"to":{"user":"a"},"class":"{{name}}"}""").ExpiresAt);

    [Theory]
    [InlineData("""{"user":"ada"}""", TargetKind.User, "ada")]
    [InlineData("""{"users":["b","a","b"]}""", TargetKind.Users, "b,a")]
    [InlineData("""{"topic":"room"}""", TargetKind.Topic, "")]
    [InlineData("""{"device":{"user":"ada","device":"d1"}}""", TargetKind.Device, "ada")]
    public void Read_Target_TakesEachForm(string to, TargetKind kind, string users)
    {
        var read = Bodies.Valid($$"""{"to":{{to}}}""").To;
        Assert.Equal((kind, users), (read.Kind, string.Join(',', read.Users)));
        Assert.Equal(kind == TargetKind.Topic ? "room" : null, read.Topic);
        Assert.Equal(kind == TargetKind.Device ? "d1" : null, read.Device);
    }

    [Fact]
    public void Read_EscapedMemberNames_AreUnderstood()
    {
        var read = Bodies.Valid("""{"\u0074o":{"us\u0065r":"ad\u0061"},"\u0063lass":"b\u0075lk"}""");
        Assert.Equal(("ada", EventClass.Bulk), (read.To.Users[0], read.Class));
    }

    [Theory]
    [InlineData("0", 0)]
    [InlineData("0.25", 0.25)]
    [InlineData("2419200", 2_419_200)]
    public void Read_TtlWithinBounds_IsTaken(string ttl, double seconds) => Assert.Equal(
        Bodies.Now + TimeSpan.FromSeconds(seconds), Bodies.Valid($$"""{"to":{"user":"a"},"ttl":{{ttl}}}""").ExpiresAt);

    [Fact]
    public void Read_OriginOfARecovery_KeepsIdAndEnd()
    {
        var reader = new EventReader(ClassPolicies.Default, ["websocket"]);
        var end = Bodies.Now.AddSeconds(7);
        var read = reader.Read("""{"to":{"user":"a"},"ttl":100}"""u8.ToArray(), new("demo", Bodies.Now, 0, null, "kept", end), []);
        Assert.Equal(("kept", end, false), (read!.Id, read.ExpiresAt, read.IdGiven));
    }
}
