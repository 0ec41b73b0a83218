using System.IO.Pipelines;
using System.Text.Json;
using Pnh.Api.Bodies;
using Pnh.Core.Events;
using Pnh.Core.Journal;
using Pnh.Core.Push;

namespace Pnh.Api.Endpoints;

/// <summary>Writes a timeline: the event, what concerns all of it, then one entry per planned delivery. Streamed.</summary>
internal static class TimelineWriter
{
    /// <param name="output">The answer's body.</param>
    /// <param name="timeline">What to write.</param>
    /// <param name="user">Only this user's share; null = everybody's.</param>
    /// <param name="now">Past the TTL no mailbox holds the event, whether that was noted yet or not.</param>
    /// <param name="cancellationToken">The reader has gone.</param>
    internal static async Task WriteAsync(PipeWriter output, Timeline timeline, string? user, DateTimeOffset now, CancellationToken cancellationToken)
    {
        await using (var json = new Utf8JsonWriter(output))
        {
            var pieces = new JsonPieces(json, output);
            json.WriteStartObject();
            WriteEvent(json, timeline, timeline.State);
            WriteWithdrawals(json, timeline.History.Milestones, user);
            WriteOfEvent(json, timeline.History.Milestones, user);
            json.WriteStartArray("deliveries");
            foreach (var delivery in timeline.Deliveries)
            {
                if (user is null || string.Equals(user, delivery.User, StringComparison.Ordinal))
                {
                    WriteDelivery(json, timeline, delivery, isAlive: now < timeline.History.Event.ExpiresAt);
                    await pieces.FlushWhenDueAsync(cancellationToken);
                }
            }

            json.WriteEndArray();
            json.WriteEndObject();
        }

        await output.FlushAsync(cancellationToken);
    }

    /// <summary>What is known of an event, as one object: a user's share, or all that there is. It leaves the state of the whole event open, which others may have their part in.</summary>
    /// <param name="json">Where to.</param>
    /// <param name="share">The event with what was noted of the user alone, or of all.</param>
    /// <param name="now">As above.</param>
    internal static void WriteShare(Utf8JsonWriter json, Timeline share, DateTimeOffset now)
    {
        json.WriteStartObject();
        WriteEvent(json, share, state: null);
        if (share.History.IsPartial)
        {
            json.WriteBoolean("partial", true);
        }

        WriteWithdrawals(json, share.History.Milestones, user: null);
        WriteOfEvent(json, share.History.Milestones, user: null);
        json.WriteStartArray("deliveries");
        foreach (var delivery in share.Deliveries)
        {
            WriteDelivery(json, share, delivery, isAlive: now < share.History.Event.ExpiresAt);
        }

        json.WriteEndArray();
        json.WriteEndObject();
    }

    private static void WriteEvent(Utf8JsonWriter json, Timeline timeline, string? state)
    {
        var stored = timeline.History.Event;
        using var body = JsonDocument.Parse(stored.Body);
        json.WriteString("id", stored.Id);
        json.WriteString("class", ClassOf(body.RootElement));
        WriteOptional(json, "topic", TopicOf(body.RootElement));
        WriteOptional(json, "state", state);
        json.WriteString("acceptedAt", stored.AcceptedAt);
        json.WriteString("expiresAt", stored.ExpiresAt);
        WriteOptional(json, "traceparent", stored.TraceParent);
        WriteOptional(json, "outcome", timeline.Outcome);
    }

    private static void WriteWithdrawals(Utf8JsonWriter json, IReadOnlyList<Milestone> milestones, string? user)
    {
        var any = false;
        foreach (var milestone in milestones)
        {
            if (milestone.Kind == MilestoneKind.Withdrawn && Concerns(milestone, user))
            {
                if (!any)
                {
                    json.WriteStartArray("withdrawn");
                    any = true;
                }

                json.WriteStartObject();
                json.WriteString("at", milestone.At);
                WriteOptional(json, "reason", milestone.Reason);
                WriteOptional(json, "user", milestone.User);
                json.WriteEndObject();
            }
        }

        if (any)
        {
            json.WriteEndArray();
        }
    }

    private static void WriteOfEvent(Utf8JsonWriter json, IReadOnlyList<Milestone> milestones, string? user)
    {
        json.WriteStartArray("milestones");
        foreach (var milestone in milestones)
        {
            if (Timeline.IsOfEvent(milestone) && milestone.Kind is not (MilestoneKind.Withdrawn or MilestoneKind.Reached or MilestoneKind.Rested) && Concerns(milestone, user))
            {
                WriteMilestone(json, milestone, isOfEvent: true);
            }
        }

        json.WriteEndArray();
    }

    private static void WriteDelivery(Utf8JsonWriter json, Timeline timeline, Timeline.Chain delivery, bool isAlive)
    {
        var milestones = timeline.History.Milestones;
        json.WriteStartObject();
        json.WriteString("user", delivery.User);
        json.WriteString("device", delivery.Device);
        if (delivery.Settled < 0)
        {
            json.WriteString("state", DeliveryStateNames.Pending);
            WriteOptional(json, "reason", delivery.Because < 0 ? null : milestones[delivery.Because].Reason);
        }
        else
        {
            WriteOutcome(json, milestones[delivery.Settled]);
        }

        if (delivery.IsKept && isAlive)
        {
            json.WriteBoolean("mailbox", true);
        }

        json.WriteStartArray("milestones");
        for (var i = delivery.First; i >= 0; i = timeline.After(i))
        {
            WriteMilestone(json, milestones[i], isOfEvent: false);
        }

        json.WriteEndArray();
        json.WriteEndObject();
    }

    /// <summary>State, and what there is of reason, channel and provider id; how many members share it.</summary>
    internal static void WriteOutcome(Utf8JsonWriter json, in Milestone milestone)
    {
        WriteOptional(json, "state", milestone.State);
        WriteOptional(json, "reason", milestone.Reason);
        WriteOptional(json, "channel", milestone.Channel);
        WriteOptional(json, "providerId", milestone.ProviderId);
        if (milestone.Members > 0)
        {
            json.WriteNumber("members", milestone.Members);
        }
    }

    private static void WriteMilestone(Utf8JsonWriter json, in Milestone milestone, bool isOfEvent)
    {
        json.WriteStartObject();
        json.WriteString("at", milestone.At);
        json.WriteString("kind", milestone.Kind.Label());
        if (isOfEvent)
        {
            WriteOptional(json, "user", milestone.User);
        }

        WriteOutcome(json, milestone);
        if (milestone.Kind is MilestoneKind.Retry or MilestoneKind.Held or MilestoneKind.Unanswered)
        {
            json.WriteNumber("attempts", milestone.Attempts);
        }

        WriteNextAttempt(json, milestone);
        json.WriteEndObject();
    }

    /// <summary>Nothing when no attempt is to come.</summary>
    internal static void WriteNextAttempt(Utf8JsonWriter json, in Milestone milestone)
    {
        if (milestone.NextAttemptAt is { } next)
        {
            json.WriteString("nextAttemptAt", next);
        }
    }

    // The body was read when it was accepted: an object, and its class, where it says one, is a class.
    private static string ClassOf(JsonElement body) => body.TryGetProperty("class", out var name) ? name.GetString()! : EventClass.Message.Label();

    private static string? TopicOf(JsonElement body) => body.GetProperty("to").TryGetProperty("topic", out var topic) ? topic.GetString() : null;

    private static bool Concerns(in Milestone milestone, string? user) =>
        user is null || milestone.User is null || string.Equals(user, milestone.User, StringComparison.Ordinal);

    internal static void WriteOptional(Utf8JsonWriter json, string name, string? value)
    {
        if (value is not null)
        {
            json.WriteString(name, value);
        }
    }
}
