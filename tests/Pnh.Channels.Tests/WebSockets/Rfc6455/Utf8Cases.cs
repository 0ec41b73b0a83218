using static Pnh.Channels.Tests.WebSockets.Rfc6455.ConformanceCase;
using static Pnh.Channels.Tests.WebSockets.Rfc6455.MaskedFrame;

namespace Pnh.Channels.Tests.WebSockets.Rfc6455;

/// <summary>Section 6 of the list: text is UTF-8, and what is not is found before the message ends.</summary>
internal static class Utf8Cases
{
    // By group, in the suite's order, in hex.
    private static readonly Dictionary<string, string[]> Valid = new()
    {
        ["6.2"] = ["48656c6c6f2dc2b540c39fc3b6c3a4c3bcc3a0c3a12d5554462d382121"],
        ["6.5"] = ["68656c6c6f24776f726c64", "68656c6c6fc2a2776f726c64", "68656c6c6fe282ac776f726c64", "68656c6c6ff0a4ada2776f726c64"],
        ["6.7"] = ["00", "c280", "e0a080", "f0908080"],
        ["6.9"] = ["7f", "dfbf", "efbfbf", "f48fbfbf"],
        ["6.11"] = ["ed9fbf", "ee8080", "efbfbd", "f48fbfbf"],
        ["6.22"] =
        [
            "efbfbe", "efbfbf", "f09fbfbe", "f09fbfbf", "f0afbfbe", "f0afbfbf", "f0bfbfbe", "f0bfbfbf", "f18fbfbe", "f18fbfbf", "f19fbfbe", "f19fbfbf",
            "f1afbfbe", "f1afbfbf", "f1bfbfbe", "f1bfbfbf", "f28fbfbe", "f28fbfbf", "f29fbfbe", "f29fbfbf", "f2afbfbe", "f2afbfbf", "f2bfbfbe", "f2bfbfbf",
            "f38fbfbe", "f38fbfbf", "f39fbfbe", "f39fbfbf", "f3afbfbe", "f3afbfbf", "f3bfbfbe", "f3bfbfbf", "f48fbfbe", "f48fbfbf",
        ],
        ["6.23"] = ["efbfb9", "efbfba", "efbfbb", "efbfbc", "efbfbd", "efbfbe", "efbfbf"],
    };

    private static readonly Dictionary<string, string[]> Invalid = new()
    {
        ["6.3"] = ["cebae1bdb9cf83cebcceb5eda080656469746564"],
        ["6.8"] = ["f888808080", "fc8480808080"],
        ["6.10"] = ["f7bfbfbf", "fbbfbfbfbf", "fdbfbfbfbfbf"],
        ["6.11 above"] = ["f4908080"],
        ["6.12"] = ["80", "bf", "80bf", "80bf80", "80bf80bf", "80bf80bf80", "80bf80bf80bf", Run(0x80, 0xBE, "")],
        ["6.13"] = [Run(0xC0, 0xDF, "20"), Run(0xE0, 0xEF, "20"), Run(0xF0, 0xF7, "20"), Run(0xF8, 0xFB, "20"), "fc20fd20"],
        ["6.14"] = ["c0", "e080", "f08080", "f8808080", "fc80808080", "df", "efbf", "f7bfbf", "fbbfbfbf", "fdbfbfbfbf"],
        ["6.15"] = ["c0e080f08080f8808080fc80808080dfefbff7bfbffbbfbfbffdbfbfbfbf"],
        ["6.16"] = ["fe", "ff", "fefeffff"],
        ["6.17"] = ["c0af", "e080af", "f08080af", "f8808080af", "fc80808080af"],
        ["6.18"] = ["c1bf", "e09fbf", "f08fbfbf", "f887bfbfbf", "fc83bfbfbfbf"],
        ["6.19"] = ["c080", "e08080", "f0808080", "f880808080", "fc8080808080"],
        ["6.20"] = ["eda080", "edadbf", "edae80", "edafbf", "edb080", "edbe80", "edbfbf"],
        ["6.21"] =
        [
            "eda080edb080", "eda080edbfbf", "edadbfedb080", "edadbfedbfbf", "edae80edb080", "edae80edbfbf", "edafbfedb080", "edafbfedbfbf",
        ],
    };

    public static IEnumerable<ConformanceCase> All() =>
    [
        .. Valid.SelectMany(group => group.Value.Select((hex, i) => IsText($"{group.Key}.{i + 1}", hex))),
        .. Invalid.SelectMany(group => group.Value.Select((hex, i) => NotText($"{group.Key}.{i + 1}", hex))),
        .. Prefixes(),
        .. InPieces(),
        .. FailFast(),
    ];

    // 6.6: the beginnings of a text of two- and three-byte characters; those that end within one are wrong.
    private static IEnumerable<ConformanceCase> Prefixes()
    {
        var text = Convert.FromHexString("cebae1bdb9cf83cebcceb5");
        int[] whole = [2, 5, 7, 9, 11];
        for (var length = 1; length <= text.Length; length++)
        {
            var hex = Convert.ToHexString(text[..length]);
            yield return whole.Contains(length) ? IsText($"6.6.{length}", hex) : NotText($"6.6.{length}", hex);
        }
    }

    private static IEnumerable<ConformanceCase> InPieces()
    {
        var message = MessageOf("Hello-µ@ßöäüàá-UTF-8!! κόσμε 🎉");
        var bytes = Bytes(message);
        yield return new ConformanceCase("6.1.1", [Of(Text, "")], BadJson);
        yield return new ConformanceCase("6.1.2", [Of(Text, "", isFinal: false), Of(Continuation, "", isFinal: false), Of(Continuation, "")], BadJson);
        yield return GoesOn("6.1.3", [Of(Text, "", isFinal: false), Of(Continuation, message, isFinal: false), Of(Continuation, "")], [message]);
        yield return GoesOn("6.2.2", Fragments(Text, bytes, 60), [message]);
        yield return GoesOn("6.2.3", Fragments(Text, bytes, 1), [message]);
        yield return GoesOn("6.2.4", Chop(Of(Text, message), 1), [message]);
        yield return new ConformanceCase("6.3.2", Fragments(Text, Convert.FromHexString("cebae1bdb9cf83cebcceb5eda080656469746564"), 1)[..^7], "close 1007");
    }

    // The rest of the message is never sent: who waits for it fails.
    private static IEnumerable<ConformanceCase> FailFast()
    {
        byte[] good = Convert.FromHexString("cebae1bdb9cf83cebcceb5"), beyond = Convert.FromHexString("f4908080"), rest = Bytes("edited");
        var begin = Of(Text, good, isFinal: false);
        var frame = Of(Text, [.. good, .. beyond, .. rest]);
        var wrong = frame.Length - rest.Length - beyond.Length;
        yield return new ConformanceCase("6.4.1", [begin, Of(Continuation, beyond, isFinal: false)], "close 1007");
        yield return new ConformanceCase("6.4.2", [begin, Of(Continuation, beyond[..2], isFinal: false)], "close 1007");
        yield return new ConformanceCase("6.4.3", [frame[..wrong], frame[wrong..(wrong + 4)]], "close 1007") { IsDirectOnly = true };
        yield return new ConformanceCase("6.4.4", [frame[..(wrong + 1)], frame[(wrong + 1)..(wrong + 2)]], "close 1007") { IsDirectOnly = true };
    }

    private static string Run(int first, int last, string between) =>
        string.Concat(Enumerable.Range(first, last - first + 1).Select(b => $"{b:x2}{between}"));
}
