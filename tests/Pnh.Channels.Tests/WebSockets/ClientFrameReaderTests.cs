using System.Text;
using Pnh.Channels.WebSockets.Protocol;
using Pnh.Core.Sessions;

namespace Pnh.Channels.Tests.WebSockets;

public class ClientFrameReaderTests
{
    [Fact]
    public void Read_HelloInAnyOrder_HasItsMembers()
    {
        var problem = Read(
            """{"resume":{"seq":7,"x":[1],"session":"s"},"later":{"a":[]},"device":"tab \u00fc","state":"background","token":"t","type":"hello"}""",
            out var frame);
        Assert.Null(problem);
        Assert.Equal(ClientFrameType.Hello, frame.Type);
        Assert.Equal(("t", "tab ü", "s"), (frame.Token, frame.Device, frame.ResumeSession));
        Assert.Equal(7, frame.ResumeSeq);
        Assert.Equal(SessionState.Background, frame.State);
    }

    [Theory]
    [InlineData("""{"type":"ack","seq":0}""", ClientFrameType.Ack)]
    [InlineData("""{"seq":9223372036854775807,"type":"ack"}""", ClientFrameType.Ack)]
    [InlineData("""{"type":"state","state":"active"}""", ClientFrameType.State)]
    [InlineData("""{"type":"hello","device":"d","resume":null,"token":null}""", ClientFrameType.Hello)]
    [InlineData("""{"type":"answer","id":"e-1","as":"accepted"}""", ClientFrameType.Answer)]
    [InlineData("""{"type":"seen","id":"e-1"}""", ClientFrameType.Seen)]
    [InlineData("""{"type":"join","topics":["room-7","room 8"]}""", ClientFrameType.Join)]
    [InlineData("""{"type":"leave","topics":["room-7"]}""", ClientFrameType.Leave)]
    [InlineData("""{"type":"send","to":{"topic":"room-7"},"data":{"type":"ack"}}""", ClientFrameType.Send)]
    public void Read_WellFormed_IsThatFrame(string message, object type)
    {
        Assert.Null(Read(message, out var frame));
        Assert.Equal((ClientFrameType)type, frame.Type);
    }

    [Theory]
    [InlineData("0")]
    [InlineData("7")]
    [InlineData("9223372036854775807")]
    [InlineData("9223372036854775808")]
    [InlineData("-1")]
    [InlineData("+1")]
    [InlineData("007")]
    [InlineData("")]
    [InlineData(" 7")]
    [InlineData("7 ")]
    [InlineData("7e0")]
    [InlineData("7}")]
    [InlineData("7,\"x\":8")]
    public void Read_AckAsItIsUsuallyWritten_IsReadAsAnyOther(string seq)
    {
        var problem = Read($$"""{"type":"ack","seq":{{seq}}}""", out var usual);
        var other = Read($$""" {"type":"ack","seq":{{seq}}}""", out var same);
        Assert.Equal((other, same.Type, same.Seq), (problem, usual.Type, usual.Seq));
    }

    [Theory]
    [InlineData("", "bad-json")]
    [InlineData("null", "bad-json")]
    [InlineData("[]", "bad-json")]
    [InlineData("{", "bad-json")]
    [InlineData("""{"type":"ack","seq":1}x""", "bad-json")]
    [InlineData("""{"type":"ack","seq":1,}""", "bad-json")]
    [InlineData("""{"type":"hello","device":"\ud800"}""", "bad-json")]
    [InlineData("""{"a":[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]}""", "bad-json")]
    [InlineData("{}", "unknown-type")]
    [InlineData("""{"type":"ring"}""", "unknown-type")]
    [InlineData("""{"type":7}""", "unknown-type")]
    [InlineData("""{"type":["ack"]}""", "unknown-type")]
    [InlineData("""{"type":"ack"}""", "missing-member")]
    [InlineData("""{"type":"ack","seq":-1}""", "bad-member")]
    [InlineData("""{"type":"ack","seq":1.5}""", "bad-member")]
    [InlineData("""{"type":"ack","seq":"1"}""", "bad-member")]
    [InlineData("""{"type":"ack","seq":99999999999999999999}""", "bad-member")]
    [InlineData("""{"type":"hello"}""", "missing-member")]
    [InlineData("""{"type":"hello","device":".."}""", "bad-member")]
    [InlineData("""{"type":"hello","device":"tab\u0000"}""", "bad-member")]
    [InlineData("""{"type":"hello","device":"tab\u202e"}""", "bad-member")]
    [InlineData("""{"type":"hello","device":"d","state":"asleep"}""", "bad-member")]
    [InlineData("""{"type":"hello","device":"d","resume":"s"}""", "bad-member")]
    [InlineData("""{"type":"hello","device":"d","resume":{"seq":1}}""", "missing-member")]
    [InlineData("""{"type":"hello","device":"d","resume":{"session":"s"}}""", "missing-member")]
    [InlineData("""{"type":"state"}""", "missing-member")]
    [InlineData("""{"type":"answer","id":"e-1"}""", "missing-member")]
    [InlineData("""{"type":"seen","id":"no spaces"}""", "bad-member")]
    [InlineData("""{"type":"hello","device":"tab-1","knows":"joined"}""", "bad-member")]
    [InlineData("""{"type":"hello","device":"tab-1","beat":4}""", "bad-member")]
    [InlineData("""{"type":"hello","device":"tab-1","beat":61}""", "bad-member")]
    [InlineData("""{"type":"hello","device":"tab-1","beat":7.5}""", "bad-member")]
    [InlineData("""{"type":"beat"}""", "missing-member")]
    [InlineData("""{"type":"taken"}""", "missing-member")]
    [InlineData("""{"type":"join","topics":[]}""", "bad-member")]
    [InlineData("""{"type":"join","topics":[1]}""", "bad-member")]
    [InlineData("""{"type":"join","topics":{}}""", "bad-member")]
    [InlineData("""{"type":"send","to":"ada","data":1}""", "bad-member")]
    [InlineData("""{"type":"send","to":{}}""", "missing-member")]
    public void Read_Malformed_SaysWhy(string message, string code) => Assert.Equal(code, Read(message, out _)?.Code);

    [Fact]
    public void Read_InvalidUtf8InAString_IsBadJson() =>
        Assert.Equal("bad-json", ClientFrameReader.Read([.. """{"type":"hello","device":" """u8, 0xFF, .. "\"}"u8], out _)?.Code);

    [Fact]
    public void Read_EveryPrefixAndEveryFlippedByte_NeverThrows()
    {
        var whole = """{"type":"hello","token":"t","device":"d\u00e9","state":"active","resume":{"session":"s","seq":1}}"""u8.ToArray();
        for (var length = 0; length < whole.Length; length++)
        {
            Assert.NotNull(ClientFrameReader.Read(whole.AsSpan(0, length), out _));
        }

        for (var place = 0; place < whole.Length; place++)
        {
            for (var bit = 0; bit < 8; bit++)
            {
                var flipped = (byte[])whole.Clone();
                flipped[place] ^= (byte)(1 << bit);
                if (ClientFrameReader.Read(flipped, out var frame) is null)
                {
                    Assert.NotNull(frame.Device);
                }
            }
        }
    }

    [Fact]
    public void Read_Ack_AllocatesNothing()
    {
        var message = """{"type":"ack","seq":123456}"""u8.ToArray();
        ClientFrameReader.Read(message, out _);
        var before = GC.GetAllocatedBytesForCurrentThread();
        for (var i = 0; i < 1000; i++)
        {
            ClientFrameReader.Read(message, out _);
        }

        Assert.Equal(0, GC.GetAllocatedBytesForCurrentThread() - before);
    }

    private static FrameProblem? Read(string message, out ClientFrame frame) =>
        ClientFrameReader.Read(Encoding.UTF8.GetBytes(message), out frame);
}
