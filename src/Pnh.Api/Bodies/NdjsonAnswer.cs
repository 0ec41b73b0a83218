using System.Buffers;
using System.Globalization;
using System.IO.Pipelines;
using System.Text.Json;
using Pnh.Api.Problems;

namespace Pnh.Api.Bodies;

/// <summary>
/// The NDJSON answer to an upload, line by line. A stream of unknown length gets its lines after every read. A client that says the length reads when it has
/// sent all, and nginx no longer passes a body on when its answer begins: such an answer begins at the body's end, or with more than
/// <see cref="HeldBytes"/> of lines. So a client that does not read holds up its own upload and not the hub's memory. Not thread-safe.
/// </summary>
internal sealed class NdjsonAnswer
{
    // Most refusals are 150 to 300 bytes: 3 MB to somebody who sends nothing but rubbish. With a hundred errors in each line (Limits.FieldErrors) they are 8 kB,
    // 80 MB in all, for bodies of 6 MB. What is not read of that holds up the upload instead of waiting here.
    private const int MaxRefusals = 10_000;
    private const int FlushBytes = 16 * 1024;
    private const int HeldBytes = 256 * 1024;
    private readonly PipeWriter _output;
    private readonly CancellationToken _over;
    private long _unflushed;
    private long _held;

    /// <param name="context">The request whose body is answered; nothing of the answer is written yet.</param>
    /// <param name="over">Of the <see cref="AnswerTime"/>: a client that does not read is waited for until then.</param>
    internal NdjsonAnswer(HttpContext context, CancellationToken over)
    {
        _output = context.Response.BodyWriter;
        _over = over;
        var request = context.Request;
        _held = request.ContentLength is null && !request.Headers.ContainsKey("X-Forwarded-For") ? 0 : HeldBytes;
    }

    /// <summary>Lines of refused items so far.</summary>
    internal long Refused { get; private set; }

    /// <summary>No more refusals are told: the stream ends here.</summary>
    internal bool IsFull => Refused >= MaxRefusals;

    /// <summary>A line <c>{"index","id"?,"problem"}</c>.</summary>
    internal void Refuse(long index, string? id, Problem problem)
    {
        Refused++;
        WriteLine(json =>
        {
            json.WriteNumber("index", index);
            if (id is not null)
            {
                json.WriteString("id", id);
            }

            json.WritePropertyName("problem");
            problem.WriteTo(json);
        });
    }

    internal void WriteLine(Action<Utf8JsonWriter> members)
    {
        using (var json = new Utf8JsonWriter(_output))
        {
            json.WriteStartObject();
            members(json);
            json.WriteEndObject();
            json.Flush();
            _unflushed += json.BytesCommitted + 1;
        }

        _output.Write("\n"u8);
    }

    /// <summary>The last line: <c>done</c>, the counts, and the problem when the stream ended early.</summary>
    internal void WriteEnd(Problem? problem, Action<Utf8JsonWriter> counts)
    {
        _held = 0;
        WriteLine(json =>
        {
            json.WriteBoolean("done", problem is null);
            counts(json);
            json.WriteNumber("refused", Refused);
            if (problem is not null)
            {
                json.WritePropertyName("problem");
                problem.WriteTo(json);
            }
        });
    }

    /// <summary>The problem of a stream that ended because the answer is full; <paramref name="next"/> is the first index not taken.</summary>
    internal static Problem TooManyRefusals(long next) =>
        new(ProblemCatalogue.TooManyRefusals, string.Create(CultureInfo.InvariantCulture, $"{MaxRefusals} items were refused; nothing from index {next} on was taken."));

    /// <summary>The problem of a stream that ended because the hub stops; <paramref name="next"/> is the first index not taken.</summary>
    internal static Problem Stopped(long next) =>
        new(ProblemCatalogue.ShuttingDown, string.Create(CultureInfo.InvariantCulture, $"Nothing from index {next} on was taken."));

    /// <summary>The problem of a stream whose sender's key was revoked; <paramref name="next"/> is the first index not taken.</summary>
    internal static Problem Revoked(long next) =>
        new(ProblemCatalogue.Unauthorized, string.Create(CultureInfo.InvariantCulture, $"The key is revoked; nothing from index {next} on was taken."));

    /// <summary>Sends what is written unless it waits for the body's end; waits for a client that does not read.</summary>
    internal async ValueTask FlushAsync()
    {
        if (_unflushed > _held)
        {
            _unflushed = 0;
            _held = 0;
            await _output.FlushAsync(_over);
        }
    }

    /// <summary>The same within a read, once it is worth it.</summary>
    internal ValueTask FlushWhenLargeAsync() => _unflushed > FlushBytes ? FlushAsync() : ValueTask.CompletedTask;
}
