using System.Text;
using System.Text.Json;
using Pnh.Channels.WebSockets.Protocol;
using Pnh.Core.Events;

namespace Pnh.Channels.Tests.WebSockets;

/// <summary>What stands on the wire.</summary>
public class FrameTests
{
    private static readonly DateTimeOffset At = DateTimeOffset.FromUnixTimeMilliseconds(1_700_000_000_123);

    [Fact]
    public void Of_MinimalEvent_LeavesAbsentMembersOut()
    {
        var frame = EventFrames.Of(Events.Make("e-1", at: At, ttl: TimeSpan.FromSeconds(30)));
        Assert.Equal(
            """{"type":"event","seq":42,"id":"e-1","class":"message","at":1700000000123,"ttl":30,"data":{"n":1}}""", Text(frame, 42));
    }

    [Fact]
    public void Of_FullEvent_HasEveryMember()
    {
        var accepted = new Event
        {
            App = "demo",
            Id = "e-1",
            To = EventTarget.ToTopic("room-7"),
            Class = EventClass.Call,
            AcceptedAt = At,
            ExpiresAt = At.AddSeconds(30),
            CollapseKey = "chat-7",
            TraceParent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
            Data = """[1, "ü"]"""u8.ToArray(),
            Notification = new Notification
            {
                Title = "Grace \"G\"",
                Subtitle = "s",
                Body = "Grüße 🎉",
                Sound = "default",
                Badge = 0,
                Image = "https://example.com/i.png",
                Category = "c",
                Thread = "t",
                Locales = new Dictionary<string, LocalizedText> { ["de"] = new(null, null, "Hallo") },
            },
        };

        Assert.Equal(
            """{"type":"event","seq":1,"id":"e-1","class":"call","at":1700000000123,"ttl":30,"topic":"room-7","collapseKey":"chat-7","""
            + "\"traceparent\":\"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01\",\"data\":[1, \"ü\"],"
            + "\"notification\":{\"title\":\"Grace \\\"G\\\"\",\"subtitle\":\"s\",\"body\":\"Grüße 🎉\",\"sound\":\"default\",\"badge\":0,"
            + "\"image\":\"https://example.com/i.png\",\"category\":\"c\",\"thread\":\"t\",\"locales\":{\"de\":{\"body\":\"Hallo\"}}}}",
            Text(EventFrames.Of(accepted), 1));
    }

    [Fact]
    public void Of_Transient_IsAWholeFrameWithoutSeq()
    {
        var frame = EventFrames.Of(Events.Make("t-1", EventClass.Transient, data: "true"));
        Assert.False(frame.HasSeq);
        Assert.Equal("""{"type":"event","id":"t-1","class":"transient","data":true}""", Encoding.UTF8.GetString(frame.Tail.Span));
    }

    [Fact]
    public void Of_SameEventTwice_IsTheSameArrayAndAllocatesNothing()
    {
        var accepted = Events.Make("e-1");
        var first = EventFrames.Of(accepted);
        Assert.Same(first, EventFrames.Of(accepted));

        var before = GC.GetAllocatedBytesForCurrentThread();
        for (var i = 0; i < 1000; i++)
        {
            EventFrames.Of(accepted);
        }

        Assert.Equal(0, GC.GetAllocatedBytesForCurrentThread() - before);
    }

    [Fact]
    public void Of_DataThatIsNoUtf8_StillIsATextFrame()
    {
        var accepted = new Event
        {
            App = "demo",
            Id = "e-1",
            To = EventTarget.ToUser("ada"),
            AcceptedAt = At,
            ExpiresAt = At,
            Data = new byte[] { (byte)'"', 0xFF, (byte)'"' },
        };
        var strict = new UTF8Encoding(false, throwOnInvalidBytes: true);
        using var json = JsonDocument.Parse(strict.GetString(Compose(EventFrames.Of(accepted), 1)));
        Assert.Equal("\uFFFD", json.RootElement.GetProperty("data").GetString());
    }

    [Fact]
    public void Compose_LargestSeq_FitsTheRoomItAsksFor()
    {
        var frame = EventFrames.Of(Events.Make("e-1"));
        Assert.Contains("\"seq\":9223372036854775807,", Text(frame, long.MaxValue), StringComparison.Ordinal);
    }

    internal static string Text(Frame frame, long seq) => Encoding.UTF8.GetString(Compose(frame, seq));

    private static byte[] Compose(Frame frame, long seq)
    {
        var buffer = new byte[frame.MaxBytes];
        return buffer[..frame.Compose(seq, buffer)];
    }
}
