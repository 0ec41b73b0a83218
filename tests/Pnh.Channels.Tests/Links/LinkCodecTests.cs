using System.Text;
using Pnh.Channels.Links.Protocol;
using Pnh.Core.Events;
using Pnh.Core.Sessions;
using Pnh.TestKit;

namespace Pnh.Channels.Tests.Links;

/// <summary>Items as bytes and back. What they mean, the suites of sessions say that run over <c>ByteLink</c>.</summary>
public sealed class LinkCodecTests
{
    private static readonly EventReader Events = new(ClassPolicies.Default, ["websocket", "apns", "fcm"]);
    private static readonly DateTimeOffset Noon = new(2026, 5, 1, 12, 0, 0, TimeSpan.Zero);
    private static readonly SessionKey Key = new("demo", "ada/☎", "tab-1", "s-1");

    private static readonly ClientIdentity Identity = new("demo", "ada", null, ["room-*", ""], Noon.AddHours(1));

    [Fact]
    public void Members_WrittenAndRead_AreTheSame()
    {
        var time = new FakeTimeProvider(Noon);
        time.Advance(TimeSpan.FromSeconds(5));
        var accepted = Event(time);
        time.Advance(TimeSpan.FromSeconds(3));
        var writer = Write(time, accepted);

        ReadOnlyMemory<byte> batch = writer.Written.ToArray();
        Assert.True(LinkReader.TryTake(ref batch, out var kind, out var members));
        Assert.Equal((LinkItemKind.Publish, 0), (kind, batch.Length));
        var reader = new LinkReader(members.Span);
        foreach (var number in Numbers)
        {
            Assert.Equal(number, reader.Number());
        }

        Assert.Equal((Key, SessionState.Background, Noon), (reader.Key(), reader.State(), reader.Time()));
        var identity = reader.Identity();
        Assert.Equal((Identity.App, Identity.User, Identity.Device, Identity.ExpiresAt), (identity.App, identity.User, identity.Device, identity.ExpiresAt));
        Assert.Equal(Identity.Topics, identity.Topics);
        Assert.Equal(("here", null, true, false), (reader.OptionalText(), reader.OptionalText(), reader.Flag(), reader.Flag()));
        var withdrawal = reader.Withdrawal();
        Assert.Equal(("demo", "e-1", "answered", Noon), (withdrawal.App, withdrawal.Event, withdrawal.Reason, withdrawal.At));
        Assert.Equal(new MissedEvents(3, Noon.AddHours(-1).ToUnixTimeMilliseconds()), reader.Missed(time));
        var read = reader.Frame(time);
        Assert.Equal((accepted.Id, accepted.Class, accepted.AcceptedAt, accepted.ExpiresAt, accepted.CollapseKey), (read.Id, read.Class, read.AcceptedAt, read.ExpiresAt, read.CollapseKey));
        Assert.Equal(accepted.AcceptedTimestamp, read.AcceptedTimestamp);
        Assert.Equal(ClientEvent.Of(accepted), ClientEvent.Of(read));
        Assert.True(read.Body.IsEmpty);
        reader.End();
    }

    /// <summary>An edge whose clock is apart by minutes gives each frame as much time as the hub does.</summary>
    [Theory]
    [InlineData(EventClass.Transient, 0)]
    [InlineData(EventClass.Message, 0)]
    [InlineData(EventClass.Call, 30)]
    public void Frame_ClockOfTheEdgeIsApart_HasTheAgeAndTheTimeThatIsLeft(EventClass @class, int ttl)
    {
        foreach (var apart in (TimeSpan[])[TimeSpan.FromMinutes(10), TimeSpan.FromMinutes(-10)])
        {
            var (hub, edge) = (new FakeTimeProvider(Noon), new FakeTimeProvider(Noon + apart));
            var accepted = new Event { App = "demo", Id = "e-1", To = EventTarget.ToUser("ada"), Class = @class, AcceptedAt = Noon, ExpiresAt = Noon.AddSeconds(ttl) };
            hub.Advance(TimeSpan.FromSeconds(5));
            var writer = new LinkWriter();
            writer.Begin(LinkItemKind.Frame).Event(accepted, hub, LinkHello.Version).End();
            ReadOnlyMemory<byte> batch = writer.Written.ToArray();
            Assert.True(LinkReader.TryTake(ref batch, out _, out var members));
            var read = new LinkReader(members.Span).Frame(edge);
            Assert.Equal((TimeSpan.FromSeconds(-5), TimeSpan.FromSeconds(ttl - 5), ttl == 0), (read.AcceptedAt - edge.GetUtcNow(), read.ExpiresAt - edge.GetUtcNow(), read.IsNowOrNever));
        }
    }

    /// <summary>Nodes of two versions talk to each other: what is on the wire stays what it is.</summary>
    [Fact]
    public void Items_OnTheWire_AreThese()
    {
        Assert.Equal(Enumerable.Range(1, 37), Enum.GetValues<LinkItemKind>().Select(static kind => (int)kind));
        var writer = new LinkWriter();
        writer.Begin(LinkItemKind.Acked).Number(7).Text("e1").End();
        writer.Begin(LinkItemKind.GoOn).Number(7).Number(300).End();
        Assert.Equal("05-00-00-00-06-07-02-65-31-04-00-00-00-12-07-AC-02", BitConverter.ToString(writer.Written.ToArray()));
    }

    [Fact]
    public void TryTake_BatchCutAnywhere_TakesWholeItemsOnly()
    {
        var writer = new LinkWriter();
        writer.Begin(LinkItemKind.HasRoom).Key(Key).End();
        var one = writer.Written.Length;
        writer.Begin(LinkItemKind.Closed).Key(Key).End();
        var whole = writer.Written.ToArray();
        for (var length = 0; length <= whole.Length; length++)
        {
            ReadOnlyMemory<byte> batch = whole.AsMemory(0, length);
            var taken = 0;
            while (LinkReader.TryTake(ref batch, out _, out _))
            {
                taken++;
            }

            Assert.Equal((length < one ? 0 : length < whole.Length ? 1 : 2, length - (taken * one)), (taken, batch.Length));
        }
    }

    [Fact]
    public void End_ItemTooLong_IsABugOfTheWriter() =>
        Assert.Throws<InvalidOperationException>(static () => new LinkWriter().Begin(LinkItemKind.Publish).Bytes(new byte[LinkReader.MaxItemBytes]).End());

    /// <summary>A hundred thousand items: random ones, and good ones with some bytes changed. Each is read in every way there is.</summary>
    [Fact]
    public void Garbage_AnyBytes_AreRefusedAndTakeNoMemory()
    {
        var time = new FakeTimeProvider(Noon);
        var good = Write(time, Event(time)).Written.ToArray();
        var random = new Random(11);
        var (read, refused) = (0, 0);
        for (var i = 0; i < 100_000; i++)
        {
            byte[] bytes;
            if (i % 2 == 0)
            {
                bytes = new byte[random.Next(64)];
                random.NextBytes(bytes);
            }
            else
            {
                bytes = [.. good];
                for (var changes = random.Next(1, 4); changes > 0; changes--)
                {
                    bytes[random.Next(bytes.Length)] = (byte)random.Next(256);
                }
            }

            var before = GC.GetAllocatedBytesForCurrentThread();
            try
            {
                ReadOnlyMemory<byte> batch = bytes;
                while (LinkReader.TryTake(ref batch, out _, out var members))
                {
                    ReadInEveryWay(members, i, time);
                    read++;
                }
            }
            catch (LinkFormatException)
            {
                refused++;
            }

            // What a fault and the reader of events take for themselves, and up to eight bytes for each that came.
            Assert.InRange(GC.GetAllocatedBytesForCurrentThread() - before, 0, 24_000 + (8 * bytes.Length));
        }

        Assert.True(read > 1_000 && refused > 20_000, $"{read} read, {refused} refused");
    }

    private static long[] Numbers => [0, 1, 127, 128, 16_384, int.MaxValue, long.MaxValue];

    private static void ReadInEveryWay(ReadOnlyMemory<byte> members, int way, TimeProvider time)
    {
        var reader = new LinkReader(members.Span);
        switch (way % 14)
        {
            case 0: reader.Texts(); break;
            case 2: reader.Identity(); break;
            case 4: reader.Frame(time); break;
            case 6: reader.Withdrawal(); break;
            case 8: reader.Bytes(); break;
            case 10: reader.Time(); break;
            case 12: reader.OptionalText(); break;
            default: ReadAll(ref reader, time); break;
        }

        reader.End();
    }

    private static void ReadAll(ref LinkReader reader, TimeProvider time)
    {
        foreach (var _ in Numbers)
        {
            reader.Number();
        }

        reader.Key();
        reader.State();
        reader.Time();
        reader.Identity();
        reader.OptionalText();
        reader.OptionalText();
        reader.Flag();
        reader.Flag();
        reader.Withdrawal();
        reader.Missed(time);
        reader.Frame(time);
    }

    private static LinkWriter Write(TimeProvider time, Event accepted)
    {
        var writer = new LinkWriter();
        writer.Begin(LinkItemKind.Publish);
        foreach (var number in Numbers)
        {
            writer.Number(number);
        }

        writer.Key(Key).State(SessionState.Background).Time(Noon).Identity(Identity).OptionalText("here").OptionalText(null).Flag(true).Flag(false)
            .Withdrawal(new Withdrawal("demo", "e-1", "answered", Noon)).Missed(new MissedEvents(3, Noon.AddHours(-1).ToUnixTimeMilliseconds()), time)
            .Event(accepted, time, LinkHello.Version).End();
        return writer;
    }

    private static Event Event(TimeProvider time) => Events.Read(
        Encoding.UTF8.GetBytes("""{"to":{"user":"ada"},"data":{"order":77},"notification":{"title":"Shipped"}}"""),
        new EventOrigin("demo", time.GetUtcNow(), time.GetTimestamp(), "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", "e-1", time.GetUtcNow().AddHours(1)), [])!;
}
