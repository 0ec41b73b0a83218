using System.Text;
using Pnh.Channels.WebSockets.Rfc6455;

namespace Pnh.Channels.Tests.WebSockets.Rfc6455;

/// <summary>The frame parser alone: how bytes are split never matters, and no bytes throw.</summary>
public class FrameReaderTests
{
    private const int MaxMessageBytes = 4_096;

    public static TheoryData<string> Corpus => [.. Directory.GetFiles(Path.Combine(AppContext.BaseDirectory, "WebSockets", "Rfc6455", "Corpus")).Select(static file => Path.GetFileName(file))];

    [Theory]
    [MemberData(nameof(Corpus))]
    public void Read_KeptInput_IsReadAlikeHoweverItIsSplit(string file)
    {
        var bytes = Convert.FromHexString(string.Concat(File.ReadLines(Path.Combine(AppContext.BaseDirectory, "WebSockets", "Rfc6455", "Corpus", file))
            .Where(static line => !line.StartsWith('#'))));
        AssertSplitsDoNotMatter(bytes, new Random(1));
    }

    [Fact]
    public void Read_RandomBytes_NeverThrowsAndIsReadAlikeHoweverItIsSplit()
    {
        for (var seed = 0; seed < 3_000; seed++)
        {
            var random = new Random(seed);
            var bytes = new byte[random.Next(200)];
            random.NextBytes(bytes);
            if (bytes.Length > 1 && seed % 4 != 0)
            {
                bytes[0] &= 0x8B; // a plausible beginning gets deeper
                bytes[1] |= 0x80;
            }

            AssertSplitsDoNotMatter(bytes, random);
        }
    }

    [Fact]
    public void Read_RandomFramesWithRandomFaults_IsReadAlikeHoweverItIsSplit()
    {
        for (var seed = 0; seed < 2_000; seed++)
        {
            var random = new Random(seed);
            var bytes = MaskedFrame.Join([.. Enumerable.Range(0, random.Next(1, 12)).Select(_ => RandomFrame(random))]);
            for (var faults = random.Next(3) - 1; faults > 0; faults--)
            {
                bytes[random.Next(bytes.Length)] ^= (byte)(1 << random.Next(8));
            }

            AssertSplitsDoNotMatter(bytes, random);
        }
    }

    [Fact]
    public void Read_RandomMessagesInRandomFragments_FindsEachWhole()
    {
        for (var seed = 0; seed < 500; seed++)
        {
            var random = new Random(seed);
            var texts = Enumerable.Range(0, random.Next(1, 6)).Select(_ => RandomText(random)).ToList();
            var frames = texts.SelectMany(text => MaskedFrame.Fragments(MaskedFrame.Text, Encoding.UTF8.GetBytes(text), random.Next(1, 300)));
            Assert.Equal(texts.Select(static text => $"Text {text}"), Read(MaskedFrame.Join([.. frames]), random));
        }
    }

    [Theory]
    [InlineData(0)]
    [InlineData(1)]
    [InlineData(3)]
    [InlineData(31)]
    [InlineData(32)]
    [InlineData(1_000)]
    public void Unmask_AnyLengthAndPhase_IsTheXorOfEachByte(int length)
    {
        var random = new Random(length);
        var source = new byte[length];
        random.NextBytes(source);
        byte[] mask = [0xA1, 0xB2, 0xC3, 0xD4];
        var destination = new byte[length];
        var cut = length == 0 ? 0 : random.Next(length);
        var next = Masking.Unmask(source.AsSpan(0, cut), destination, BitConverter.ToUInt32(mask));
        Masking.Unmask(source.AsSpan(cut), destination.AsSpan(cut), next);
        Assert.Equal(source.Select((b, i) => (byte)(b ^ mask[i % 4])), destination);
    }

    // In one piece, byte by byte, and in random pieces.
    private static void AssertSplitsDoNotMatter(byte[] bytes, Random random)
    {
        var whole = Read(bytes, null);
        Assert.Equal(whole, Read(bytes, random, largest: 1));
        for (var i = 0; i < 4; i++)
        {
            Assert.Equal(whole, Read(bytes, random));
        }
    }

    // As the loop gives them: what was left comes again, in front of what follows. Each run of bytes stands in an array of its own length, so
    // that who reads beyond it fails.
    private static List<string> Read(byte[] bytes, Random? random, int largest = 100)
    {
        var reader = new FrameReader(MaxMessageBytes);
        var found = new List<string>();
        byte[] left = [];
        for (var given = 0; given < bytes.Length;)
        {
            var piece = random is null ? bytes.Length : Math.Min(bytes.Length - given, random.Next(1, largest + 1));
            byte[] there = [.. left, .. bytes[given..(given + piece)]];
            given += piece;
            var used = ReadAll(ref reader, there, found);
            if (used < 0)
            {
                break;
            }

            left = there[used..];
            Assert.True(left.Length < 14 + FrameHeader.MaxControlBytes);
        }

        reader.Clear();
        return found;
    }

    // How many bytes it used; -1 = it found the end of all reading.
    private static int ReadAll(ref FrameReader reader, byte[] there, List<string> found)
    {
        Span<byte> scratch = stackalloc byte[256];
        var used = 0;
        while (used < there.Length)
        {
            var read = reader.Read(there.AsSpan(used), scratch, out var what, out var content);
            Assert.InRange(read, 0, there.Length - used);
            used += read;
            if (what == Received.Nothing && read == 0)
            {
                return used;
            }

            if (what is not (Received.Nothing or Received.Piece))
            {
                found.Add($"{what} {Encoding.UTF8.GetString(content)}");
            }

            reader.Release();
            if (what is Received.Broken or Received.NotText or Received.Closed)
            {
                return -1;
            }
        }

        return used;
    }

    private static byte[] RandomFrame(Random random)
    {
        int[] opcodes = [0, 0, 1, 1, 1, 2, 9, 10, random.Next(16)];
        var opcode = opcodes[random.Next(opcodes.Length)];
        var size = opcode >= 8 ? random.Next(126) : random.Next(20) == 0 ? random.Next(6_000) : random.Next(400);
        var payload = Encoding.UTF8.GetBytes(RandomText(random));
        Array.Resize(ref payload, Math.Min(size, payload.Length));
        return MaskedFrame.Of(opcode, payload, isFinal: opcode >= 8 || random.Next(3) > 0);
    }

    private static string RandomText(Random random)
    {
        string[] letters = ["a", "ü", "€", "🎉", "\"", "\0"];
        return string.Concat(Enumerable.Range(0, random.Next(600)).Select(_ => letters[random.Next(letters.Length)]));
    }
}
