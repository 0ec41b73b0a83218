using System.Buffers;
using System.Buffers.Text;
using System.Text;
using System.Text.Json;
using Microsoft.AspNetCore.WebUtilities;
using Pnh.Api.Ingest;
using Pnh.Api.Problems;
using Pnh.Core.Events;
using Pnh.Core.Hubs;

namespace Pnh.Api.DirectHttp;

/// <summary>
/// Answers of HTTP/1.1 as bytes, in one buffer per thread: valid until the thread's next one. The bodies come from the same writers as those of the
/// framework's way. No allocation for a receipt.
/// </summary>
#pragma warning disable CA1001 // lives as long as its thread; the writer holds nothing but memory
internal sealed class HttpAnswer
#pragma warning restore CA1001
{
    // An answer is 200 bytes, and some 8 kB with a hundred errors in it; a larger one takes its buffer along, or each thread would keep the largest it ever sent.
    private const int MostKept = 64 * 1024;

    [ThreadStatic]
    private static HttpAnswer? _own;

    private readonly ArrayBufferWriter<byte> _bytes = new(1024);
    private readonly ArrayBufferWriter<byte> _body = new(256);
    private readonly Utf8JsonWriter _json;

    private HttpAnswer()
    {
        _json = new Utf8JsonWriter(_body);
    }

    /// <summary>Bytes that this thread keeps for its next answer.</summary>
    internal static int Kept => _own?._bytes.Capacity ?? 0;

    private static HttpAnswer Own => _own ??= new HttpAnswer();

    /// <summary>What a publisher reads for an event that the hub has decided on.</summary>
    public static ReadOnlySpan<byte> Of(Event accepted, in AcceptResult result, ReadOnlySpan<byte> dateLine, bool isLast) =>
        EventAnswers.Refusal(result) is { } problem ? Of(problem, dateLine, isLast) : Own.Receipt(accepted, result, dateLine, isLast);

    /// <summary>A problem.</summary>
    public static ReadOnlySpan<byte> Of(Problem problem, ReadOnlySpan<byte> dateLine, bool isLast)
    {
        var own = Own;
        own.Begin(problem.Kind.Status, dateLine, isLast);
        own._bytes.Write("Cache-Control: no-store\r\n"u8);
        return own.End("application/problem+json"u8, problem.RetryAfterSeconds, problem.ToJson().Span);
    }

    /// <summary>A problem whose bytes are known.</summary>
    public static ReadOnlySpan<byte> Of(StaticProblem problem, string? retryAfterSeconds, ReadOnlySpan<byte> dateLine, bool isLast)
    {
        var own = Own;
        own.Begin(problem.Status, dateLine, isLast);
        return own.End("application/problem+json"u8, retryAfterSeconds, problem.Body.Span);
    }

    /// <summary>A bare status for a request that never became one.</summary>
    public static ReadOnlySpan<byte> Of(int status, ReadOnlySpan<byte> dateLine)
    {
        var own = Own;
        own.Begin(status, dateLine, isLast: true);
        own._bytes.Write("Content-Length: 0\r\n\r\n"u8);
        return own._bytes.WrittenSpan;
    }

    /// <summary>The answer to an upgrade.</summary>
    public static ReadOnlySpan<byte> OfUpgrade(in RequestHead head, ReadOnlySpan<byte> dateLine)
    {
        var own = Own;
        own._bytes.ResetWrittenCount();
        Handshake.Write(own._bytes, head.SocketKey, head.SocketProtocols, dateLine);
        return own._bytes.WrittenSpan;
    }

    private ReadOnlySpan<byte> Receipt(Event accepted, in AcceptResult result, ReadOnlySpan<byte> dateLine, bool isLast)
    {
        _body.ResetWrittenCount();
        _json.Reset();
        EventAnswers.WriteReceipt(_json, accepted, result);
        _json.Flush();
        _bytes.ResetWrittenCount();
        _bytes.Write("HTTP/1.1 202 Accepted\r\n"u8);
        Common(dateLine, isLast);
        return End("application/json"u8, null, _body.WrittenSpan);
    }

    private void Begin(int status, ReadOnlySpan<byte> dateLine, bool isLast)
    {
        _bytes.ResetWrittenCount();
        _bytes.Write("HTTP/1.1 "u8);
        Number(status);
        _bytes.Write(" "u8);
        Text(ReasonPhrases.GetReasonPhrase(status));
        _bytes.Write("\r\n"u8);
        Common(dateLine, isLast);
    }

    private void Common(ReadOnlySpan<byte> dateLine, bool isLast)
    {
        if (isLast)
        {
            _bytes.Write("Connection: close\r\n"u8);
        }

        _bytes.Write(dateLine);
    }

    private ReadOnlySpan<byte> End(ReadOnlySpan<byte> type, string? retryAfterSeconds, ReadOnlySpan<byte> body)
    {
        if (retryAfterSeconds is not null)
        {
            _bytes.Write("Retry-After: "u8);
            Text(retryAfterSeconds);
            _bytes.Write("\r\n"u8);
        }

        _bytes.Write("Content-Type: "u8);
        _bytes.Write(type);
        _bytes.Write("\r\nContent-Length: "u8);
        Number(body.Length);
        _bytes.Write("\r\n\r\n"u8);
        _bytes.Write(body);
        if (_bytes.Capacity > MostKept)
        {
            _own = null;
        }

        return _bytes.WrittenSpan;
    }

    private void Number(int number)
    {
        Utf8Formatter.TryFormat(number, _bytes.GetSpan(11), out var length);
        _bytes.Advance(length);
    }

    private void Text(string ascii) => _bytes.Advance(Encoding.ASCII.GetBytes(ascii, _bytes.GetSpan(ascii.Length)));
}
