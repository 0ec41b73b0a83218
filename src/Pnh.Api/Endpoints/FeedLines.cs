using System.Buffers;
using System.IO.Pipelines;
using System.Text.Json;
using Pnh.Core.Events;
using Pnh.Core.Journal;

namespace Pnh.Api.Endpoints;

/// <summary>The lines of the feed. One per answer; not thread-safe.</summary>
internal sealed class FeedLines : IAsyncDisposable
{
    private readonly PipeWriter _output;
    private readonly Utf8JsonWriter _json;

    internal FeedLines(PipeWriter output)
    {
        _output = output;
        _json = new Utf8JsonWriter(output);
    }

    /// <summary>A whole page, what was removed before it first. False when it has no line.</summary>
    internal bool WritePage(FeedPage page, FeedFilter filter)
    {
        var any = page.IsGap;
        if (page.IsGap)
        {
            Begin();
            _json.WriteString("type", "gap");
            End();
        }

        foreach (var entry in page.Entries)
        {
            if (filter.Passes(entry))
            {
                WriteEntry(entry);
                any = true;
            }
        }

        return any;
    }

    /// <summary>Nothing new: the line keeps the connection alive, and its cursor spares the reader the way from its own last one.</summary>
    internal void WriteIdle(string cursor)
    {
        Begin(cursor, "idle");
        End();
    }

    /// <summary>Sends what is written, waiting for a client that reads slowly.</summary>
    internal async ValueTask FlushAsync(CancellationToken cancellationToken) => await _output.FlushAsync(cancellationToken);

    public ValueTask DisposeAsync() => _json.DisposeAsync();

    private void WriteEntry(in FeedEntry entry)
    {
        if (entry.Address is { } address)
        {
            Begin(entry.Cursor, "address");
            _json.WriteString("user", address.User);
            _json.WriteString("device", address.Device);
            _json.WriteString("channel", address.Channel);
            _json.WriteString("health", address.Health);
            TimelineWriter.WriteOptional(_json, "reason", address.Reason);
            TimelineWriter.WriteOptional(_json, "movedTo", address.MovedTo);
            _json.WriteString("at", address.At);
            End();
        }
        else if (entry.Outcome is { } outcome)
        {
            WriteOutcome(entry.Cursor, outcome);
        }
    }

    private void WriteOutcome(string cursor, in Milestone outcome)
    {
        Begin(cursor, outcome.Kind switch { MilestoneKind.Withdrawn => "withdrawn", MilestoneKind.Dispatched => "no-devices", _ => "delivery" });
        _json.WriteString("id", outcome.Event);
        TimelineWriter.WriteOptional(_json, "user", outcome.User);
        TimelineWriter.WriteOptional(_json, "device", outcome.Device);
        _json.WriteString("class", outcome.Class.Label());
        if (outcome.Kind is MilestoneKind.AckedLate or MilestoneKind.Held or MilestoneKind.Unanswered)
        {
            _json.WriteString("state", outcome.Kind.Label());
        }

        if (outcome.Kind != MilestoneKind.Dispatched)
        {
            TimelineWriter.WriteOutcome(_json, outcome);
        }

        TimelineWriter.WriteNextAttempt(_json, outcome);
        _json.WriteString("at", outcome.At);
        End();
    }

    private void Begin(string cursor, string type)
    {
        Begin();
        _json.WriteString("cursor", cursor);
        _json.WriteString("type", type);
    }

    private void Begin()
    {
        _json.Reset(_output);
        _json.WriteStartObject();
    }

    private void End()
    {
        _json.WriteEndObject();
        _json.Flush();
        _output.Write("\n"u8);
    }
}
