using System.Text;

namespace Pnh.Channels.Tests.WebSockets.Rfc6455;

/// <summary>
/// One case of the Autobahn test suite. The suite's peer echoes; ours speaks <c>pnh.v1</c>, so what became of a message is seen so: a <c>send</c>
/// reaches the hub byte for byte (<see cref="Taken"/>), text that is no JSON is answered by <c>error bad-json</c> and 4502, and binary by
/// <c>error binary-frame</c> and 4502, both only after the whole message passed RFC 6455.
/// </summary>
/// <param name="Number">The suite's.</param>
/// <param name="Writes">What the client sends, one write each.</param>
/// <param name="Answers">What the server says until the connection ends: <c>pong text</c>, <c>error code</c>, <c>close code</c>.</param>
internal sealed record ConformanceCase(string Number, byte[][] Writes, params string[] Answers)
{
    /// <summary>What the hub gets, in this order.</summary>
    public string[] Taken { get; init; } = [];

    /// <summary>What the framework answers where it differs, and why; null = the same.</summary>
    public string[]? FrameworkAnswers { get; init; }

    /// <summary>The framework waits for more, which the case does not send, or lets it pass; the suite does not ask for it.</summary>
    public bool IsDirectOnly { get; init; }

    /// <summary>A message of exactly so many bytes that the hub gets.</summary>
    public static string Message(int bytes)
    {
        const string Head = """{"type":"send","to":{"user":"ada"},"data":""" + "\"";
        return Head + new string('*', bytes - Head.Length - 2) + "\"}";
    }

    /// <summary>The same for text of one's own.</summary>
    public static string MessageOf(string text) => """{"type":"send","to":{"user":"ada"},"data":""" + $"\"{text}\"}}";

    /// <summary>The session goes on: the client says goodbye, and is answered.</summary>
    public static ConformanceCase GoesOn(string number, byte[][] writes, string[] taken, params string[] answers) =>
        new(number, [.. writes, MaskedFrame.OfClose(1000)], [.. answers, "close 1000"]) { Taken = taken };

    /// <summary>A whole text message that is UTF-8, and no JSON.</summary>
    public static ConformanceCase IsText(string number, string hex) => new(number, [MaskedFrame.Of(MaskedFrame.Text, Convert.FromHexString(hex))], BadJson);

    /// <summary>A whole text message that is not UTF-8.</summary>
    public static ConformanceCase NotText(string number, string hex) =>
        new(number, [MaskedFrame.Of(MaskedFrame.Text, Convert.FromHexString(hex))], "close 1007");

    public static string[] BadJson { get; } = ["error bad-json", "close 4502"];

    public static string[] BinaryFrame { get; } = ["error binary-frame", "close 4502"];

    public static byte[] Bytes(string text) => Encoding.UTF8.GetBytes(text);
}
