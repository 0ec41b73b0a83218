using System.Text;
using System.Text.Json;
using Pnh.Core.Events;

namespace Pnh.Core.Tests.Events;

/// <summary>RFC 8259 section 7: what must be escaped, and that nothing else is.</summary>
public sealed class PlainJsonEncoderTests
{
    private static readonly JsonWriterOptions Options = new() { Encoder = PlainJsonEncoder.Shared };

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public void Write_EveryCharacter_IsEscapedOnlyWhereTheRfcSaysSo(bool fromUtf8)
    {
        for (var scalar = 0; scalar <= 0x10FFFF; scalar += scalar < 0x3000 ? 1 : 0x1F)
        {
            if (!Rune.IsValid(scalar))
            {
                continue;
            }

            var text = $"a{new Rune(scalar)}b";
            var json = Write(text, fromUtf8);
            Assert.Equal(text, JsonDocument.Parse(json).RootElement.GetString());
            Assert.Equal(scalar is >= 0x20 and not ('"' or '\\'), json == $"\"{text}\"");
        }
    }

    [Theory]
    [InlineData("\"\\\b\t\n\f\r", """
        "\"\\\b\t\n\f\r"
        """)]
    [InlineData("\0\u001f</script>'&+`\u2028\u007f\u00a0\u3000\U0001F600", "\"\\u0000\\u001f</script>'&+`\u2028\u007f\u00a0\u3000\U0001F600\"")]
    public void Write_Text_ShortFormsAndNoOthers(string text, string json)
    {
        Assert.Equal(json, Write(text, fromUtf8: true));
        Assert.Equal(json, Write(text, fromUtf8: false));
    }

    [Fact]
    public void Write_HalfASurrogatePair_IsReplaced()
    {
        // Not as data of a theory, which cannot carry half a pair.
        Assert.Equal("\"a\ufffd\"", Write("a\ud83d", fromUtf8: false));
        Assert.Equal("\"\ufffdb\\n\"", Write("\ude00b\n", fromUtf8: false));
        Assert.Equal("\"\U0001F600\ufffd\\\"\"", Write("\U0001F600\ud83d\"", fromUtf8: false));
    }

    private static string Write(string text, bool fromUtf8)
    {
        using var stream = new MemoryStream();
        using (var writer = new Utf8JsonWriter(stream, Options))
        {
            if (fromUtf8)
            {
                writer.WriteStringValue(Encoding.UTF8.GetBytes(text));
            }
            else
            {
                writer.WriteStringValue(text);
            }
        }

        return Encoding.UTF8.GetString(stream.ToArray());
    }
}
