using System.Text;

namespace Pnh.Core.Tests.Events;

/// <summary>Whatever comes in: an event without errors or errors without an event, and never an exception.</summary>
public sealed class EventReaderFuzzTests
{
    [Fact]
    public void Read_TruncatedAnywhere_IsAnError()
    {
        var whole = Encoding.UTF8.GetBytes(Bodies.Full);
        for (var length = 0; length < whole.Length; length++)
        {
            var (read, errors) = Bodies.Read(whole.AsMemory(0, length));
            Assert.True(read is null && errors.Count > 0, $"Cut at byte {length}");
        }
    }

    [Fact]
    public void Read_OneByteChangedAnywhere_NeverThrows()
    {
        byte[] odd = [0x00, (byte)'"', (byte)'\\', (byte)'{', (byte)'}', (byte)'[', (byte)',', (byte)':', 0x80, 0xC3, 0xED, 0xFF];
        var whole = Encoding.UTF8.GetBytes(Bodies.Full);
        for (var i = 0; i < whole.Length; i++)
        {
            foreach (var other in odd)
            {
                var body = (byte[])whole.Clone();
                body[i] = other;
                AssertEither(body);
            }
        }
    }

    [Fact]
    public void Read_RandomMutations_NeverThrow()
    {
        string[] pieces =
        [
            "\"", "\\", "\\ud800", "\\u0000", "{", "}", "[", "]", ",", ":", "null", "1e999", "-", "\"to\":", "\"user\"", "\"notification\":{",
            "\"locales\":{", "\"id\":", "é", "😀", "\u2028", "\\udfff", "999999999999999999999", "\"except\":", " ", "\n",
        ];
        var random = new Random(20260301);
        for (var round = 0; round < 20_000; round++)
        {
            var text = new StringBuilder(Bodies.Full);
            for (var change = random.Next(1, 6); change > 0; change--)
            {
                var at = random.Next(text.Length);
                var length = random.Next(Math.Min(20, text.Length - at));
                text.Remove(at, random.Next(2) * length).Insert(Math.Min(at, text.Length), pieces[random.Next(pieces.Length)]);
            }

            AssertEither(Encoding.UTF8.GetBytes(text.ToString()));
        }
    }

    private static void AssertEither(byte[] body)
    {
        var (read, errors) = Bodies.Read(body);
        Assert.True(read is null == errors.Count > 0, Encoding.UTF8.GetString(body));
        Assert.All(errors, e => Assert.True(e.Code.Length > 0 && e.Detail.Length > 0 && (e.Pointer.Length == 0 || e.Pointer[0] == '/')));
    }
}
