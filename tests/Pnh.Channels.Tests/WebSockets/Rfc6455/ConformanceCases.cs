using System.Globalization;
using static Pnh.Channels.Tests.WebSockets.Rfc6455.ConformanceCase;
using static Pnh.Channels.Tests.WebSockets.Rfc6455.MaskedFrame;

namespace Pnh.Channels.Tests.WebSockets.Rfc6455;

/// <summary>The Autobahn suite's list but for compression (12, 13), which we do not offer, and 6, which is long. Sizes of 9 are scaled to our limit.</summary>
internal static class ConformanceCases
{
    /// <summary>The limit of these tests.</summary>
    public const int MaxMessageBytes = 128 * 1024;

    private static readonly string M = Message(80);
    private static readonly byte[] Whole = Of(Text, M);

    public static IEnumerable<ConformanceCase> Section(int section) => section switch
    {
        1 => Framing(),
        2 => Pings(),
        3 => ReservedBits(),
        4 => Opcodes(),
        5 => Fragmentation(),
        6 => Utf8Cases.All(),
        7 => Closing(),
        9 => Limits(),
        14 => BeyondTheSuite(),
        _ => [GoesOn("10.1.1", Fragments(Text, Bytes(Message(65_536)), 1_300), [Message(65_536)])],
    };

    private static IEnumerable<ConformanceCase> Framing()
    {
        int[] sizes = [125, 126, 127, 128, 65_535, 65_536];
        yield return new ConformanceCase("1.1.1", [Of(Text, "")], BadJson);
        yield return new ConformanceCase("1.2.1", [Of(Binary, "")], BinaryFrame);
        for (var i = 0; i < sizes.Length; i++)
        {
            yield return GoesOn($"1.1.{i + 2}", [Of(Text, Message(sizes[i]))], [Message(sizes[i])]);
            yield return new ConformanceCase($"1.2.{i + 2}", [Of(Binary, new byte[sizes[i]])], BinaryFrame);
        }

        yield return GoesOn("1.1.8", Chop(Of(Text, Message(65_536)), 997), [Message(65_536)]);
        yield return new ConformanceCase("1.2.8", Chop(Of(Binary, new byte[65_536]), 997), BinaryFrame);
    }

    private static IEnumerable<ConformanceCase> Pings()
    {
        var full = new string('p', 125);
        var ten = Enumerable.Range(0, 10).Select(i => $"payload-{i}").ToArray();
        var pings = Join([.. ten.Select(text => Of(Ping, text))]);
        yield return GoesOn("2.1", [Of(Ping, "")], [], "pong ");
        yield return GoesOn("2.2", [Of(Ping, "Hello, world!")], [], "pong Hello, world!");
        yield return GoesOn("2.3", [Of(Ping, "\u0000\u007f\u0001")], [], "pong \u0000\u007f\u0001");
        yield return GoesOn("2.4", [Of(Ping, full)], [], $"pong {full}");
        yield return new ConformanceCase("2.5", [Of(Ping, new byte[126])], "close 1002");
        yield return GoesOn("2.6", Chop(Of(Ping, full), 1), [], $"pong {full}");
        yield return GoesOn("2.7", [Of(Pong, "")], []);
        yield return GoesOn("2.8", [Of(Pong, "unasked")], []);
        yield return GoesOn("2.9", [Of(Pong, "unasked"), Of(Ping, "asked")], [], "pong asked");
        yield return GoesOn("2.10", [pings], [], [.. ten.Select(text => $"pong {text}")]);
        yield return GoesOn("2.11", Chop(pings, 1), [], [.. ten.Select(text => $"pong {text}")]);
    }

    private static IEnumerable<ConformanceCase> ReservedBits()
    {
        var wrong = Of(Text, M, reserved: 2);
        yield return new ConformanceCase("3.1", [Of(Text, M, reserved: 1)], "close 1002");
        yield return new ConformanceCase("3.2", [Join(Whole, wrong, Of(Ping, ""))], "close 1002") { Taken = [M] };
        yield return new ConformanceCase("3.3", [Whole, wrong], "close 1002") { Taken = [M] };
        yield return new ConformanceCase("3.4", [.. Chop(Whole, 1), .. Chop(Of(Text, M, reserved: 4), 1)], "close 1002") { Taken = [M] };
        yield return new ConformanceCase("3.5", [Of(Binary, [1, 2, 3], reserved: 5)], "close 1002");
        yield return new ConformanceCase("3.6", [Of(Ping, "", reserved: 6)], "close 1002");
        yield return new ConformanceCase("3.7", [Of(Close, [3, 232], reserved: 7)], "close 1002");
    }

    private static IEnumerable<ConformanceCase> Opcodes()
    {
        foreach (var first in new[] { 3, 11 })
        {
            var group = first == 3 ? "4.1" : "4.2";
            yield return new ConformanceCase($"{group}.1", [Of(first, "")], "close 1002");
            yield return new ConformanceCase($"{group}.2", [Of(first + 1, "reserved")], "close 1002");
            yield return new ConformanceCase($"{group}.3", [Join(Whole, Of(first + 2, ""), Of(Ping, ""))], "close 1002") { Taken = [M] };
            yield return new ConformanceCase($"{group}.4", [Join(Whole, Of(first + 3, "reserved"), Of(Ping, ""))], "close 1002") { Taken = [M] };
            yield return new ConformanceCase($"{group}.5", [.. Chop(Whole, 1), .. Chop(Of(first + 4, "reserved"), 1)], "close 1002") { Taken = [M] };
        }
    }

    private static IEnumerable<ConformanceCase> Fragmentation()
    {
        byte[] begin = Of(Text, M[..40], isFinal: false), end = Of(Continuation, M[40..]), ping = Of(Ping, "between");
        yield return new ConformanceCase("5.1", [Of(Ping, "a", isFinal: false), Of(Continuation, "b")], "close 1002");
        yield return new ConformanceCase("5.2", [Of(Pong, "a", isFinal: false), Of(Continuation, "b")], "close 1002");
        yield return GoesOn("5.3", [Join(begin, end)], [M]);
        yield return GoesOn("5.4", [begin, end], [M]);
        yield return GoesOn("5.5", Chop(Join(begin, end), 1), [M]);
        yield return GoesOn("5.6", [Join(begin, ping, end)], [M], "pong between");
        yield return GoesOn("5.7", [begin, ping, end], [M], "pong between");
        yield return GoesOn("5.8", Chop(Join(begin, ping, end), 1), [M], "pong between");

        foreach (var (number, isFinal) in new[] { (9, true), (12, false) })
        {
            var stray = Of(Continuation, "stray", isFinal);
            yield return new ConformanceCase($"5.{number}", [Join(stray, Whole)], "close 1002");
            yield return new ConformanceCase($"5.{number + 1}", [stray, Whole], "close 1002");
            yield return new ConformanceCase($"5.{number + 2}", Chop(stray, 1), "close 1002");
        }

        yield return new ConformanceCase("5.15", [Join(begin, end, Of(Continuation, "stray", isFinal: false), Whole)], "close 1002") { Taken = [M] };
        yield return new ConformanceCase("5.16", [Join(Of(Continuation, "stray", isFinal: false), begin, end)], "close 1002");
        yield return new ConformanceCase("5.17", [Join(Of(Continuation, "stray"), begin, end)], "close 1002");
        yield return new ConformanceCase("5.18", [Join(begin, Of(Text, M[40..]))], "close 1002");

        var five = Fragments(Text, Bytes(M), 16);
        byte[][] between = [five[0], five[1], Of(Ping, "1"), five[2], five[3], Of(Ping, "2"), five[4]];
        yield return GoesOn("5.19", between, [M], "pong 1", "pong 2");
        yield return GoesOn("5.20", Chop(Join(between), 7), [M], "pong 1", "pong 2");
    }

    private static IEnumerable<ConformanceCase> Closing()
    {
        var bye = OfClose(1000);
        yield return GoesOn("7.1.1", [Whole], [M]);
        yield return new ConformanceCase("7.1.2", [Join(bye, bye)], "close 1000");
        yield return new ConformanceCase("7.1.3", [Join(bye, Of(Ping, "late"))], "close 1000");
        yield return new ConformanceCase("7.1.4", [Join(bye, Whole)], "close 1000");
        yield return new ConformanceCase("7.1.5", [Join(Of(Text, M[..40], isFinal: false), bye, Of(Continuation, M[40..]))], "close 1000");
        yield return new ConformanceCase("7.1.6", [Of(Text, Message(MaxMessageBytes)), Whole, bye, Of(Ping, "late")], "close 1000")
        {
            Taken = [Message(MaxMessageBytes), M],
        };

        yield return new ConformanceCase("7.3.1", [Of(Close, "")], "close 1000");
        yield return new ConformanceCase("7.3.2", [Of(Close, [3])], "close 1002");
        yield return new ConformanceCase("7.3.3", [bye], "close 1000");
        yield return new ConformanceCase("7.3.4", [OfClose(1000, "Hello, world!")], "close 1000");
        yield return new ConformanceCase("7.3.5", [OfClose(1000, new string('r', 123))], "close 1000");
        yield return new ConformanceCase("7.3.6", [OfClose(1000, new string('r', 124))], "close 1002");
        yield return new ConformanceCase("7.5.1", [Of(Close, [3, 232, 0xCE, 0xBA, 0xED, 0xA0, 0x80])], "close 1007")
        {
            FrameworkAnswers = ["close 1002"], // the suite takes both
        };

        int[] valid = [1000, 1001, 1002, 1003, 1007, 1008, 1009, 1010, 1011, 3000, 3999, 4000, 4999];
        int[] invalid = [0, 999, 1004, 1005, 1006, 1016, 1100, 2000, 2999];
        foreach (var (i, code) in valid.Index())
        {
            yield return new ConformanceCase($"7.7.{i + 1}", [OfClose(code)], string.Create(CultureInfo.InvariantCulture, $"close {code}"));
        }

        foreach (var (i, code) in invalid.Index())
        {
            yield return new ConformanceCase($"7.9.{i + 1}", [OfClose(code)], "close 1002");
        }

        yield return new ConformanceCase("7.13.1", [OfClose(5000)], "close 1002");
        yield return new ConformanceCase("7.13.2", [OfClose(65_535)], "close 1002");
    }

    // What the suite's client cannot send, and wrong beginnings whose rest never comes.
    private static IEnumerable<ConformanceCase> BeyondTheSuite()
    {
        yield return new ConformanceCase("no mask", [[0x81, 8, .. "{\"a\":1} "u8]], "close 1002");
        yield return new ConformanceCase("no mask, two bytes", [[0x81, 2]], "close 1002") { IsDirectOnly = true };
        yield return new ConformanceCase("16 bits for 125", [Of(Text, Bytes(Message(125)), lengthBytes: 2)], "close 1002") { IsDirectOnly = true };
        yield return new ConformanceCase("64 bits for 65,535", [Of(Text, Bytes(Message(65_535)), lengthBytes: 8)], "close 1002") { IsDirectOnly = true };
        yield return new ConformanceCase("64 bits with a sign", [[0x81, 0xFF, 0x80, 0, 0, 0, 0, 0, 0, 0, 1, 2, 3, 4]], "close 1002");
        yield return new ConformanceCase("too big, announced", [[0x81, 0xFF, 0, 0, 0, 1, 0, 0, 0, 0, 1, 2, 3, 4]], "error too-big", "close 4502") { IsDirectOnly = true };
        yield return new ConformanceCase("reserved bit, one byte", [[0xC1]], "close 1002") { IsDirectOnly = true };
        yield return new ConformanceCase("reserved opcode, one byte", [[0x83]], "close 1002") { IsDirectOnly = true };
        yield return new ConformanceCase("fragmented ping, one byte", [[0x09]], "close 1002") { IsDirectOnly = true };
        yield return new ConformanceCase("ping of 126, two bytes", [[0x89, 0xFE]], "close 1002") { IsDirectOnly = true };
    }

    private static IEnumerable<ConformanceCase> Limits()
    {
        var largest = Message(MaxMessageBytes);
        string[] tooBig = ["error too-big", "close 4502"];
        yield return GoesOn("9.1", [Of(Text, largest)], [largest]);
        yield return new ConformanceCase("9.1 +1", [Of(Text, largest + " ")], tooBig);
        yield return new ConformanceCase("9.2", [Of(Binary, new byte[MaxMessageBytes])], BinaryFrame);
        yield return new ConformanceCase("9.2 +1", [Of(Binary, new byte[MaxMessageBytes + 1])], tooBig)
        {
            FrameworkAnswers = BinaryFrame, // it hears of the size at the end, and of the kind first
        };
        foreach (var size in new[] { 64, 256, 1_024, 4_096, 16_384, 65_536 })
        {
            yield return GoesOn($"9.3 {size}", Fragments(Text, Bytes(largest), size), [largest]);
            yield return new ConformanceCase($"9.3 {size} +1", Fragments(Text, Bytes(largest + " "), size), tooBig);
            yield return new ConformanceCase($"9.4 {size}", Fragments(Binary, new byte[MaxMessageBytes], size), BinaryFrame);
            yield return GoesOn($"9.5 {size}", Chop(Of(Text, largest), size), [largest]);
        }

        foreach (var size in new[] { 60, 64, 256, 1_024 })
        {
            yield return GoesOn($"9.7 {size}", [Join([.. Enumerable.Repeat(Of(Text, Message(size)), 500)])], [.. Enumerable.Repeat(Message(size), 500)]);
        }
    }
}
